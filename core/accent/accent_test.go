package accent

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestEveryAccentColorCanBeRead(t *testing.T) {
	t.Parallel()
	for _, color := range []string{"#ffff00", "#ffffff", "#000000", "#4f46e5", "#808080", "#ff0000", "#00ff00", "#0b5d4a",
		"#e5e5e5", "#777777"} {
		wantReadable(t, color)
	}
	rapid.Check(t, func(t *rapid.T) { wantReadable(t, rapid.StringMatching("#[0-9a-f]{6}").Draw(t, "color")) })
}

func wantReadable(t interface{ Errorf(string, ...any) }, color string) {
	palette := Of(color)
	for scheme, c := range map[string]struct {
		colors   Colors
		surfaces [2]rgb
	}{"light": {palette.Light, [2]rgb{white, lightGround}}, "dark": {palette.Dark, [2]rgb{darkPaper, darkGround}}} {
		main, second, on, soft := parse(c.colors.Accent), parse(c.colors.Second), parse(c.colors.OnAccent),
			parse(c.colors.Soft)
		for _, pair := range [][2]rgb{{main, c.surfaces[0]}, {main, c.surfaces[1]}, {main, soft}, {main, on}, {second, on}} {
			if got := contrast(pair[0], pair[1]); got < 4.4 { // the last step is rounded to whole parts
				t.Errorf("%s, %s: %s on %s has a contrast of %.2f", color, scheme, pair[0], pair[1], got)
			}
		}
	}
}

func TestPalettesAreAsTheyAre(t *testing.T) {
	t.Parallel()
	for color, want := range map[string]Palette{
		"#4f46e5": {Colors{"#4f46e5", "#3f38b7", "#ffffff", "#ededfc"}, Colors{}},
		"#ffffff": {Colors{}, Colors{"#ffffff", "#ffffff", "#000000", "#343735"}},
		"#000000": {Colors{}, Colors{"#8a8a8a", "#a1a1a1", "#000000", "#1a1e1b"}},
		"no one":  {Colors{"#000000", "#000000", "#ffffff", "#e6e6e6"}, Colors{}},
	} {
		got := Of(color)
		if want.Light != (Colors{}) && got.Light != want.Light || want.Dark != (Colors{}) && got.Dark != want.Dark {
			t.Errorf("%s: got %+v, want %+v", color, got, want)
		}
	}
}

func TestContrastIsThatOfWCAG(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]float64{
		{"#000000", "#ffffff"}: 21, {"#ffffff", "#ffffff"}: 1, {"#777777", "#ffffff"}: 4.478, {"#ff0000", "#ffffff"}: 3.998,
		{"#00ff00", "#000000"}: 15.304, {"#0000ff", "#ffffff"}: 8.592, {"#0a0a0a", "#000000"}: 1.0607,
	} {
		for _, got := range []float64{contrast(parse(pair[0]), parse(pair[1])), contrast(parse(pair[1]), parse(pair[0]))} {
			if math.Abs(got-want) > 0.001 {
				t.Errorf("%v: %.4f, want %.4f", pair, got, want)
			}
		}
	}
}
