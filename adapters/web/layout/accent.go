package layout

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/gofiber/fiber/v2"
)

// rgb is a color in sRGB, each part from 0 to 1.
type rgb [3]float64

var (
	white = rgb{1, 1, 1}
	black = rgb{}

	accentFile = regexp.MustCompile(`^([0-9a-f]{6})\.css$`)
)

// readable is the contrast that WCAG AA asks of text.
const readable = 4.5

// accent serves the style sheet of a creator's color. It is a file of its own because the content policy allows no styles
// in the page.
func (l *Layout) accent(c *fiber.Ctx) error {
	match := accentFile.FindStringSubmatch(c.Params("file"))
	if match == nil {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderContentType, contentTypes[".css"])
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	return c.SendString(accentStyles(parseColor(match[1])))
}

// accentStyles are the tokens of a color in both schemes. The color is darkened, or lightened, as far as text needs to be
// read on it and beside it, so that no creator can make a page that buyers cannot read.
func accentStyles(color rgb) string {
	light := tokens(color, white, parseColor("f5f3ee"), black)
	dark := tokens(color, parseColor("1d211e"), parseColor("0f1110"), white)
	return ":root{" + light + "}\n@media (prefers-color-scheme: dark){:root{" + dark + "}}\n"
}

// tokens are the colors of one scheme, whose surfaces are paper and ground and whose ink is ink.
func tokens(color, paper, ground, ink rgb) string {
	soft := mix(color, paper, 0.1)
	main := color
	for step := 0.0; step < 1 && (contrast(main, paper) < readable || contrast(main, ground) < readable || contrast(main, soft) < readable); step += 0.02 {
		main = mix(ink, color, step)
	}
	on := white
	if contrast(main, black) > contrast(main, white) {
		on = black
	}
	second := mix(ink, main, 0.2)
	if contrast(second, on) < readable {
		second = main
	}
	return fmt.Sprintf("--accent:%s;--accent-2:%s;--on-accent:%s;--soft:%s", main, second, on, soft)
}

// parseColor reads rrggbb.
func parseColor(hex string) (c rgb) {
	for i := range c {
		part, _ := strconv.ParseUint(hex[2*i:2*i+2], 16, 8) // checked by accentFile
		c[i] = float64(part) / 255
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
