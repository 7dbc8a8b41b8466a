package pdf

import (
	"strings"
	"sync"
	"unicode"

	"golang.org/x/image/font/sfnt"
)

const (
	emojiFont = "emoji"
	// emojiScale makes them about as wide as high letters are tall.
	emojiScale = 0.8
	// firstEmoji and lastEmoji bound the emoji beyond the basic plane. fpdf knows no character there, so the font has them
	// from privateUse on.
	firstEmoji, lastEmoji = 0x1F000, 0x1FAFF
	privateUse            = 0xE000
	// firstFlag to lastFlag are the letters that flags are spelled with.
	firstFlag, lastFlag = 0x1F1E6, 0x1F1FF
)

var emojiGlyphs = sync.OnceValue(func() *sfnt.Font {
	font, err := sfnt.Parse(emoji())
	if err != nil {
		panic("pdf: the font of emoji: " + err.Error()) // embedded at build time, and a test reads it
	}
	return font
})

// isEmoji reports whether the font of emoji draws a character that clean has returned.
func isEmoji(r rune) bool {
	if r < 0x2000 {
		return false // letters, digits and punctuation, which the other fonts have
	}
	glyph, err := emojiGlyphs().GlyphIndex(nil, r)
	return err == nil && glyph != 0
}

// clean keeps what the fonts can show. Emoji of several characters, such as families and skin tones, are shown as those
// that they are made of, and flags as their letters; what nothing can show is left out or, beyond the basic plane,
// marked.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r >= firstFlag && r <= lastFlag:
			return 'A' + r - firstFlag
		case r >= firstEmoji && r <= lastEmoji:
			if moved := r - firstEmoji + privateUse; isEmoji(moved) {
				return moved
			}
			return -1
		case unicode.Is(unicode.Variation_Selector, r), r == '\u200d', r == '\u20e3', r >= 0xE0000 && r <= 0xE007F,
			unicode.Is(unicode.Co, r):
			return -1
		case r > 0xFFFF || r == unicode.ReplacementChar:
			return '?'
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
}

// run is a part of a text in one font.
type run struct {
	text  string
	emoji bool
}

// runsOf splits a clean text where the font changes.
func runsOf(text string) []run {
	var runs []run
	for _, r := range text {
		drawn := isEmoji(r)
		if last := len(runs) - 1; last < 0 || runs[last].emoji != drawn {
			runs = append(runs, run{emoji: drawn})
		}
		runs[len(runs)-1].text += string(r)
	}
	return runs
}

// plain reports whether a text needs no emoji.
func plain(text string) bool { return !strings.ContainsFunc(text, isEmoji) }

// in runs draw with the font that a run needs.
func (p page) in(r run, draw func()) {
	if !r.emoji {
		draw()
		return
	}
	style := p.pdf.GetFontStyle()
	size, _ := p.pdf.GetFontSize()
	if p.pdf.GetFontDesc(emojiFont, "").Ascent == 0 { // the document does not have it yet
		p.addFont(emojiFont, "", emoji())
	}
	p.pdf.SetFont(emojiFont, "", size*emojiScale)
	draw()
	p.pdf.SetFont(font, style, size)
}

// widthOf measures a text in the font that is set.
func (p page) widthOf(text string) (wide float64) {
	for _, r := range runsOf(text) {
		p.in(r, func() { wide += p.pdf.GetStringWidth(r.text) })
	}
	return wide
}

// cell writes a text in one line of a width, and stays in that line; border and align are fpdf's.
func (p page) cell(wide, high float64, text, border, align string) {
	if plain(text) {
		p.pdf.CellFormat(wide, high, text, border, 0, align, false, 0, "")
		return
	}
	left := p.pdf.GetX()
	p.pdf.CellFormat(wide, high, "", border, 0, align, false, 0, "") // may begin a page
	top, padding, x := p.pdf.GetY(), p.pdf.GetCellMargin(), left
	switch align {
	case "R":
		x += wide - p.widthOf(text) - 2*padding
	case "C":
		x += (wide-p.widthOf(text))/2 - padding
	}
	for _, r := range runsOf(text) {
		p.in(r, func() {
			p.pdf.SetXY(x, top)
			p.pdf.CellFormat(0, high, r.text, "", 0, "L", false, 0, "")
			x += p.pdf.GetStringWidth(r.text)
		})
	}
	p.pdf.SetXY(left+wide, top)
}

// block writes a text in as many lines of a width as it needs.
func (p page) block(wide, high float64, text string) {
	if plain(text) {
		p.pdf.MultiCell(wide, high, text, "", "L", false)
		return
	}
	left := p.pdf.GetX()
	for _, row := range p.split(text, wide-2*p.pdf.GetCellMargin()) {
		p.pdf.SetX(left)
		p.cell(wide, high, row, "", "L")
		p.pdf.Ln(high)
	}
}

// split breaks a text into lines of a width, between words where it can.
func (p page) split(text string, wide float64) []string {
	if plain(text) {
		return p.pdf.SplitText(text, wide)
	}
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		rest, start, space, width := []rune(paragraph), 0, -1, 0.0
		for i := 0; i < len(rest); i++ {
			if rest[i] == ' ' {
				space = i
			}
			if width += p.widthOf(string(rest[i])); width <= wide || i == start {
				continue
			}
			end, next := i, i
			if space > start {
				end, next = space, space+1
			}
			lines = append(lines, string(rest[start:end]))
			start, space, width, i = next, -1, 0, next-1
		}
		lines = append(lines, string(rest[start:]))
	}
	return lines
}
