package layout

import (
	"regexp"
	"testing"
)

func TestEveryAccentColorCanBeRead(t *testing.T) {
	t.Parallel()
	token := regexp.MustCompile(`--(accent|accent-2|on-accent|soft):#([0-9a-f]{6})`)
	for _, color := range []string{"ffff00", "ffffff", "000000", "4f46e5", "808080", "ff0000", "00ff00", "0b5d4a", "e5e5e5", "777777"} {
		found := token.FindAllStringSubmatch(accentStyles(parseColor(color)), -1)
		if len(found) != 8 {
			t.Fatalf("%s: %d tokens", color, len(found))
		}
		for scheme, papers := range map[int][]string{0: {"ffffff", "f5f3ee"}, 4: {"171a18", "0f1110"}} {
			accent, second, on, soft := parseColor(found[scheme][2]), parseColor(found[scheme+1][2]), parseColor(found[scheme+2][2]), parseColor(found[scheme+3][2])
			for _, pair := range [][2]rgb{{accent, parseColor(papers[0])}, {accent, parseColor(papers[1])}, {accent, soft}, {accent, on}, {second, on}} {
				if got := contrast(pair[0], pair[1]); got < 4.4 { // the last step is rounded to whole parts
					t.Errorf("%s: %s on %s has a contrast of %.2f", color, pair[0], pair[1], got)
				}
			}
		}
	}
}

func TestAColorThatCanBeReadStaysAsItIs(t *testing.T) {
	t.Parallel()
	if got := accentStyles(parseColor("4f46e5")); !regexp.MustCompile(`^:root\{--accent:#4f46e5;`).MatchString(got) {
		t.Errorf("got %s", got)
	}
}
