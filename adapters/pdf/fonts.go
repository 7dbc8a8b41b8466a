package pdf

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"
)

// The fonts are packed: together they are the largest file of the program, which few requests need. DejaVu covers
// Latin, Greek, Cyrillic and more; fpdf embeds only the glyphs that a document uses. The emoji are drawn in one color
// from a font of their own, which only documents that have some embed.
var (
	//go:embed fonts/DejaVuSansCondensed.ttf.gz
	packedRegular []byte
	//go:embed fonts/DejaVuSansCondensed-Bold.ttf.gz
	packedBold []byte
	//go:embed fonts/NotoEmoji.ttf.gz
	packedEmoji []byte

	regular = unpackedOnce(packedRegular)
	bold    = unpackedOnce(packedBold)
	emoji   = unpackedOnce(packedEmoji)
)

// unpackedOnce returns a function that unpacks a font when it is first called. The caller leaves the bytes unchanged.
func unpackedOnce(packed []byte) func() []byte {
	return sync.OnceValue(func() []byte {
		reader, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			panic("pdf: a packed font: " + err.Error()) // embedded at build time, and a test reads it
		}
		font, err := io.ReadAll(reader)
		if err != nil {
			panic("pdf: a packed font: " + err.Error())
		}
		return font
	})
}
