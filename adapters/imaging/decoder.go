// Package imaging reads the pictures that creators upload. A file is never kept as it came: its pixels are written
// again, so that what else was in it (scripts, places, other files) is gone.
package imaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"sundry/core/fault"
	core "sundry/core/image"
	"sundry/ports"
)

const (
	// atOnce bounds the memory that decoding takes: a picture has up to 4 bytes per pixel, and its smaller copy.
	atOnce = 1
	// quality of the JPEG files that are written.
	quality = 85
	// minSide refuses what cannot be seen.
	minSide = 16
)

// Decoder implements ports.ImageDecoder with the decoders of the Go project.
type Decoder struct{ slots chan struct{} }

var _ ports.ImageDecoder = (*Decoder)(nil)

// New returns a decoder.
func New() *Decoder { return &Decoder{make(chan struct{}, atOnce)} }

// format is a kind of file: how it begins, and what reads it.
type format struct {
	begins []byte
	at     int
	config func(file []byte) (image.Config, error)
	decode func(file []byte) (image.Image, error)
}

var formats = []format{
	{
		begins: []byte("\x89PNG\r\n\x1a\n"),
		config: func(file []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(file)) },
		decode: func(file []byte) (image.Image, error) { return png.Decode(bytes.NewReader(file)) },
	},
	{
		begins: []byte("\xff\xd8\xff"),
		config: func(file []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(file)) },
		decode: func(file []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(file)) },
	},
	{
		begins: []byte("WEBP"), at: 8,
		config: func(file []byte) (image.Config, error) { return webp.DecodeConfig(bytes.NewReader(file)) },
		decode: func(file []byte) (image.Image, error) { return webp.Decode(bytes.NewReader(file)) },
	},
}

// Decode implements ports.ImageDecoder.
func (d *Decoder) Decode(ctx context.Context, file []byte, maxSide int) (core.Picture, error) {
	f, err := formatOf(file)
	if err != nil {
		return core.Picture{}, err
	}
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return core.Picture{}, ctx.Err()
	}
	img, err := f.decode(file)
	if err != nil {
		return core.Picture{}, unreadable()
	}
	return encode(upright(fit(img, maxSide), orientation(file)))
}

// formatOf is the format of a file whose size has been found acceptable before anything of it is decoded.
func formatOf(file []byte) (format, error) {
	for _, f := range formats {
		if len(file) < f.at+len(f.begins) || !bytes.Equal(file[f.at:f.at+len(f.begins)], f.begins) {
			continue
		}
		c, err := f.config(file)
		switch {
		case err != nil:
			return f, unreadable()
		case c.Width < minSide || c.Height < minSide:
			return f, refused(fault.DetailOutOfRange, fmt.Sprintf("The image is too small. Each side needs at least %d pixels.",
				minSide))
		case c.Width > core.MaxPixels/c.Height:
			return f, refused(fault.DetailOutOfRange, "The image has too many pixels. Choose one with at most 24 million.")
		case isDeep(c.ColorModel) && c.Width > core.MaxPixels/2/c.Height:
			return f, refused(fault.DetailOutOfRange, "The image has too many pixels. Choose one with at most 12 million, "+
				"or with 8 bits per color.")
		case isCostly(file, c.ColorModel) && c.Width > core.MaxPixels/2/c.Height:
			return f, refused(fault.DetailOutOfRange, "The image has too many pixels. Choose one with at most 12 million, "+
				"or save it as a baseline JPEG in RGB.")
		}
		return f, nil
	}
	return format{}, refused(fault.DetailInvalid, "Expected a PNG, JPEG or WebP image.")
}

// isDeep reports whether a picture has 16 bits per color, which take twice the memory.
func isDeep(m color.Model) bool {
	return m == color.NRGBA64Model || m == color.RGBA64Model || m == color.Gray16Model
}

// isCostly reports whether decoding takes several times the memory of other pictures of the same size: a progressive
// JPEG is kept as coefficients of 4 bytes until its end, and the planes of CMYK are joined into another picture. The
// compressed data of a baseline JPEG has no marker of a progressive frame.
func isCostly(file []byte, m color.Model) bool {
	return m == color.CMYKModel || bytes.HasPrefix(file, []byte("\xff\xd8")) && bytes.Contains(file, []byte("\xff\xc2"))
}

func unreadable() error {
	return refused(fault.DetailInvalid, "This image can’t be read. Save it again as PNG or JPEG.")
}

func refused(code, message string) error {
	return fault.Invalid(fault.Detail{Field: "file", Code: code, Message: message})
}

// fit makes a picture smaller until no side is longer than maxSide.
func fit(img image.Image, maxSide int) image.Image {
	size := img.Bounds().Size()
	longest := max(size.X, size.Y)
	if longest <= maxSide {
		return img
	}
	smaller := image.NewNRGBA(image.Rect(0, 0, max(1, size.X*maxSide/longest), max(1, size.Y*maxSide/longest)))
	draw.ApproxBiLinear.Scale(smaller, smaller.Bounds(), img, img.Bounds(), draw.Src, nil)
	return smaller
}

// encode writes a photo as JPEG, and what may be seen through as PNG.
func encode(img image.Image) (core.Picture, error) {
	size := img.Bounds().Size()
	p := core.Picture{ContentType: core.JPEG, Width: size.X, Height: size.Y}
	var out bytes.Buffer
	var err error
	if opaque, ok := img.(interface{ Opaque() bool }); ok && opaque.Opaque() && !drawn(img) {
		err = jpeg.Encode(&out, img, &jpeg.Options{Quality: quality})
	} else {
		p.ContentType = core.PNG
		err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, img)
	}
	if err != nil {
		return core.Picture{}, errors.Join(errors.New("write the image"), err)
	}
	p.Body = out.Bytes()
	return p, nil
}

// drawn reports whether a picture has few colors, as logos and screenshots have: PNG keeps their edges.
func drawn(img image.Image) bool {
	const few, steps = 256, 64
	b := img.Bounds()
	colors := map[[3]uint32]bool{}
	for y := range steps {
		for x := range steps {
			r, g, blue, _ := img.At(b.Min.X+x*b.Dx()/steps, b.Min.Y+y*b.Dy()/steps).RGBA()
			colors[[3]uint32{r, g, blue}] = true
		}
	}
	return len(colors) < few
}
