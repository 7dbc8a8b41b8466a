// Package accent makes a creator's color fit for pages and mails: it is darkened, or lightened, as far as text needs to
// be read on it and beside it, so that no creator can make a page that buyers cannot read.
package accent

import (
	"fmt"
	"math"
	"strconv"
)

// Palette is a color for both schemes.
type Palette struct{ Light, Dark Colors }

// Colors are the derived colors of a scheme, each #rrggbb: Accent for buttons and links, Second for a button under the
// pointer, OnAccent for the text on both, Soft for a faint background.
type Colors struct{ Accent, Second, OnAccent, Soft string }

// The surfaces of both schemes: paper is the background of text, ground the background around it.
var (
	white, black          = rgb{1, 1, 1}, rgb{}
	lightGround           = parse("#f5f3ee")
	darkPaper, darkGround = parse("#1d211e"), parse("#0f1110")
)

// How much of the color is in Soft, and how much of the ink in Second.
const shareInSoft, shareInSecond = 0.1, 0.2

// readable is the contrast that WCAG AA asks of text.
const readable = 4.5

// Of returns the palette of a color, written #rrggbb.
func Of(color string) Palette {
	c := parse(color)
	return Palette{Light: colors(c, white, lightGround, black), Dark: colors(c, darkPaper, darkGround, white)}
}

// colors returns the colors of one scheme with these surfaces and this ink.
func colors(color, paper, ground, ink rgb) Colors {
	soft := mix(color, paper, shareInSoft)
	main := color
	// The ink is where it ends at the latest, whatever color a creator has chosen.
	for step := 0.0; step < 1 && (contrast(main, paper) < readable || contrast(main, ground) < readable ||
		contrast(main, soft) < readable); step += 0.02 {
		main = mix(ink, color, step)
	}
	on := white
	if contrast(main, black) > contrast(main, white) {
		on = black
	}
	second := mix(ink, main, shareInSecond) // further from the text on it than main
	return Colors{main.String(), second.String(), on.String(), soft.String()}
}

// rgb is a color in sRGB, each part from 0 to 1.
type rgb [3]float64

// parse reads #rrggbb; a part that is no number is 0.
func parse(color string) (c rgb) {
	for i := range c {
		if len(color) == 7 {
			part, _ := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8) // 0 with an error
			c[i] = float64(part) / 255
		}
	}
	return c
}

// String writes #rrggbb.
func (c rgb) String() string {
	return fmt.Sprintf("#%02x%02x%02x", int(math.Round(c[0]*255)), int(math.Round(c[1]*255)), int(math.Round(c[2]*255)))
}

// mix is so much of one color in another.
func mix(c, into rgb, share float64) rgb {
	for i := range into {
		into[i] += (c[i] - into[i]) * share
	}
	return into
}

// contrast is WCAG's ratio, from 1 to 21.
func contrast(a, b rgb) float64 {
	high, low := luminance(a), luminance(b)
	if high < low {
		high, low = low, high
	}
	return (high + 0.05) / (low + 0.05)
}

func luminance(c rgb) float64 {
	linear := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}
