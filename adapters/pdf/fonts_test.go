package pdf_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/image/font/sfnt"

	"sundry/core/locale"
	"sundry/core/money"
)

func TestFontsHaveEveryGlyph(t *testing.T) {
	t.Parallel()
	needed := map[string]string{
		"the texts":         allTexts(t),
		"the amounts":       allAmounts(),
		"Western Europe":    letters(0x20, 0xFF),
		"all Latin":         letters(0x100, 0x24F) + letters(0x1E00, 0x1EF9),
		"Greek":             "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρςστυφχψωΆΈΉΊΌΎΏάέήίόύώϊϋΐΰ" + letters(0x1F70, 0x1F7D),
		"Cyrillic":          letters(0x400, 0x4FF),
		"Armenian":          letters(0x531, 0x556) + letters(0x561, 0x587),
		"Georgian":          letters(0x10D0, 0x10F0),
		"Hebrew and Arabic": letters(0x5D0, 0x5EA) + letters(0x621, 0x63A) + letters(0x641, 0x64A),
		"punctuation":       "–—‘’‚“”„†•…‰‹›«»¿¡§¶·№™€ ",
	}
	for _, file := range []string{"DejaVuSansCondensed.ttf.gz", "DejaVuSansCondensed-Bold.ttf.gz"} {
		font := parsed(t, file)
		for name, text := range needed {
			for _, r := range text {
				if glyph, err := font.GlyphIndex(nil, r); err != nil || glyph == 0 {
					t.Errorf("%s has no glyph for %q of %s: %v", file, r, name, err)
				}
			}
		}
	}
}

func TestEmojiFontHasTheCommonEmoji(t *testing.T) {
	t.Parallel()
	font := parsed(t, "NotoEmoji.ttf.gz")
	for _, r := range "😀😂🎨🎉🎁🎸📷📚📖💻🚀🔥👍🙏💡🧘🪴☀❤✂✨⭐⌚▶✅" {
		at := r
		if r > 0xFFFF {
			at = r - 0x1F000 + 0xE000
		}
		if glyph, err := font.GlyphIndex(nil, at); err != nil || glyph == 0 {
			t.Errorf("no glyph for %q: %v", r, err)
		}
	}
	if glyph, err := font.GlyphIndex(nil, '−'); err != nil || glyph != 0 {
		t.Errorf("the minus sign is taken for an emoji: %v", err)
	}
}

func parsed(t *testing.T, file string) *sfnt.Font {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("fonts", file))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	font, err := sfnt.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return font
}

// letters returns what Unicode has assigned from first to last, controls left out.
func letters(first, last rune) string {
	var all strings.Builder
	for r := first; r <= last; r++ {
		if unicode.IsGraphic(r) {
			all.WriteRune(r)
		}
	}
	return all.String()
}

func allTexts(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../../core/locale/texts/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no texts", err)
	}
	var all strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]string
		if err := json.Unmarshal(raw, &texts); err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			all.WriteString(strings.ReplaceAll(text, "\n", ""))
		}
	}
	return all.String()
}

// allAmounts returns an amount of every currency as each language writes it.
func allAmounts() string {
	var all strings.Builder
	for _, language := range locale.Languages() {
		reader := locale.Locale{Language: language}
		for a := 'a'; a <= 'z'; a++ {
			for b := 'a'; b <= 'z'; b++ {
				for c := 'a'; c <= 'z'; c++ {
					currency := money.Currency([]rune{a, b, c})
					if _, err := money.ParseCurrency(string(currency)); err == nil {
						all.WriteString(reader.Money(money.Amount{Minor: -123456789, Currency: currency}))
					}
				}
			}
		}
	}
	return all.String()
}
