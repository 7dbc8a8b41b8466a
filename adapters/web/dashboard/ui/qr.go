package ui

import (
	"fmt"
	"html/template"
	"strings"

	"rsc.io/qr"
)

// quietZone is the white margin that scanners need, in modules.
const quietZone = 4

// QRCode draws a text as a QR code, black on white whatever the scheme, so that every phone reads it.
func QRCode(text, label string) (Drawing, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return Drawing{}, fmt.Errorf("draw QR code: %w", err)
	}
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			width := 0
			for code.Black(x+width, y) {
				width++
			}
			if width > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quietZone, y+quietZone, width, width)
				x += width
			}
		}
	}
	side := code.Size + 2*quietZone
	//nolint:gocritic // %q is Go's quoting, not that of SVG
	svg := fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" class="qr" viewBox="0 0 %d %d" role="img" aria-label="%s"`+
			` shape-rendering="crispEdges"><path fill="#fff" d="M0 0h%dv%dH0z"/><path fill="#000" d="%s"/></svg>`,
		side, side, template.HTMLEscapeString(label), side, side, path.String(),
	)
	return Drawing{SVG: template.HTML(svg)}, nil //nolint:gosec // numbers and an escaped label only
}
