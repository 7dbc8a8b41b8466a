package layout

import "testing"

func TestAnAccentColorIsAStyleSheetOfBothSchemes(t *testing.T) {
	t.Parallel()
	const want = ":root{--accent:#4f46e5;--accent-2:#3f38b7;--on-accent:#ffffff;--soft:#ededfc}\n" +
		"@media (prefers-color-scheme: dark){:root{--accent:#8781ed;--accent-2:#9f9af1;--on-accent:#000000;--soft:#222532}}\n"
	if got := accentStyles("#4f46e5"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
