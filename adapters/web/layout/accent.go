package layout

import (
	"regexp"

	"github.com/gofiber/fiber/v2"

	core "sundry/core/accent"
)

var accentFile = regexp.MustCompile(`^([0-9a-f]{6})\.css$`)

// accent serves the style sheet of a creator's color. It is a file of its own because the content policy allows no
// styles in the page.
func (l *Layout) accent(c *fiber.Ctx) error {
	match := accentFile.FindStringSubmatch(c.Params("file"))
	if match == nil {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderContentType, contentTypes[".css"])
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	return c.SendString(accentStyles("#" + match[1]))
}

// accentStyles are the tokens of a color in both schemes.
func accentStyles(color string) string {
	palette := core.Of(color)
	return ":root{" + tokens(palette.Light) + "}\n@media (prefers-color-scheme: dark){:root{" + tokens(palette.Dark) +
		"}}\n"
}

func tokens(c core.Colors) string {
	return "--accent:" + c.Accent + ";--accent-2:" + c.Second + ";--on-accent:" + c.OnAccent + ";--soft:" + c.Soft
}
