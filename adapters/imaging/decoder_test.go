package imaging_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"sundry/adapters/imaging"
	"sundry/core/fault"
	core "sundry/core/image"
)

// photo is red on its left half and of many blues on its right.
func photo(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			shade := color.NRGBA{R: 250, A: 255}
			if x >= w/2 {
				shade = color.NRGBA{G: uint8(x % 64), B: uint8(120 + y%128), A: 255} //nolint:gosec // bounded
			}
			img.Set(x, y, shade)
		}
	}
	return img
}

func asPNG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func asJPEG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// withExif puts a place and an orientation into a JPEG file.
func withExif(file []byte, orientation byte) []byte {
	tiff := append([]byte("MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), orientation, 0, 0, 0,
		0, 0, 0)
	segment := append([]byte("Exif\x00\x00"), append(tiff, "secret place"...)...)
	head := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(segment)+2)) //nolint:gosec // short
	return append(append(append([]byte{0xff, 0xd8}, head...), segment...), file[2:]...)
}

// bomb is a PNG file of a few bytes that claims to have many pixels.
func bomb(w, h uint32) []byte { return bombOf(w, h, 8) }

// jpegBomb is the beginning of a JPEG file whose frame has a marker and so many components.
func jpegBomb(w, h uint16, marker, components byte) []byte {
	frame := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, h), w)
	frame = append(frame, components)
	for n := range components {
		frame = append(frame, n+1, 0x11, 0)
	}
	file := []byte("\xff\xd8\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00")
	file = append(append(file, 0xff, marker, 0, byte(len(frame)+2)), frame...) //nolint:gosec // short
	return append(file, "\xff\xda\x00\x02"...)
}

func bombOf(w, h uint32, bits byte) []byte {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), w), h)
	header = append(header, bits, 6, 0, 0, 0)
	file := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(header))
}

// webp is a small WebP file of the Go project's.
var webp, _ = base64.StdEncoding.DecodeString("UklGRrIBAABXRUJQVlA4TKUBAAAvSsAYAA8w//M///MfeJAkbXvaSG7m8Q3GfYSBJekwQztm/IcZlgwnmWImn2BK7aFmBtnVir6q//8VOkFE/xm4baTIu8c4" +
	"8ArEo6+B3zFKYln3pqClSCKX0begFTAXFOLXHSyF8cCNcZEG4OywuA4KVVfJCiArU7GAgJI8+lJP/OKMT/fBAjevg1cYB7YVkFuWga2lyPi5I0HFy5YTpWIH" +
	"g0RZpkniRVW9odHAKOwosWuOGdxIyn2OvaCDvhg/we6TwadPBPbqBV58MsLmMJ8yZnOWk8SRz4N+QoyPL+MnamzMvcE1rHNEr91F9GKZPVUcS9w7PhhH36su" +
	"B9qPeYb/oLk6cuTiJ0wOK3m5h1cKjW6EVZCYMK7dxcKCBdgP9HkKr9gkAO2P8GKZGWVdIAatQa+1IDpt6qyorVwdy01xdW8Jkfk6xjEXmVQQ+HQdFr6OKhIN" +
	"34dXWq0+0qr6EJSCeeVLH9+gvGTLyqM65PQ44ihzlTXxQKjKbAvshXgir7Lil9w4L2bvMycmjQcqXaMCO6BlY28i+FOLzbfI1vEqxAhotocAAA==")

func TestDecodeTurnsUprightAndDropsGPS(t *testing.T) {
	t.Parallel()
	file := withExif(asJPEG(t, photo(60, 40)), 6) // its top is on the right
	p, err := imaging.New().Decode(t.Context(), file, 100)
	if err != nil || p.ContentType != core.JPEG || p.Width != 40 || p.Height != 60 ||
		bytes.Contains(p.Body, []byte("secret place")) {
		t.Fatalf("%s of %d × %d, %v", p.ContentType, p.Width, p.Height, err)
	}
	img, err := jpeg.Decode(bytes.NewReader(p.Body))
	if err != nil {
		t.Fatal(err)
	}
	if top, _, bottom, _ := img.At(20, 5).RGBA(); top < 0xc000 || bottom > 0x4000 {
		t.Errorf("the left half of the sensor is not on top: %v", img.At(20, 5))
	}
}

func TestPicturesAreMadeSmallerAndKeepWhatIsSeenThrough(t *testing.T) {
	t.Parallel()
	glass := photo(300, 100)
	glass.Set(5, 5, color.NRGBA{})
	for name, c := range map[string]struct {
		file        []byte
		contentType string
	}{
		"a photo as PNG": {asPNG(t, photo(300, 100)), core.JPEG}, "a photo as JPEG": {asJPEG(t, photo(300, 100)), core.JPEG},
		"a transparent PNG": {asPNG(t, glass), core.PNG},
	} {
		p, err := imaging.New().Decode(t.Context(), c.file, 150)
		if err != nil || p.ContentType != c.contentType || p.Width != 150 || p.Height != 50 {
			t.Errorf("%s: %s of %d × %d, %v", name, p.ContentType, p.Width, p.Height, err)
		}
		if got, _, err := image.DecodeConfig(bytes.NewReader(p.Body)); err != nil || got.Width != 150 {
			t.Errorf("%s cannot be read again: %v", name, err)
		}
	}
	logo := image.NewNRGBA(image.Rect(0, 0, 32, 32))
	for i := range logo.Pix {
		logo.Pix[i] = 255
	}
	if p, err := imaging.New().Decode(t.Context(), asJPEG(t, logo), 150); err != nil || p.ContentType != core.PNG {
		t.Errorf("a drawing is kept as %s, %v", p.ContentType, err)
	}
}

func TestOnlyPicturesThatCanBeReadAreTaken(t *testing.T) {
	t.Parallel()
	whole := asPNG(t, photo(40, 40))
	for name, c := range map[string]struct {
		file    []byte
		message string
	}{
		"nothing": {nil, "Expected a PNG"},
		"a drawing in SVG": {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
			"Expected a PNG"},
		"a page":                  {[]byte("<!doctype html><script>alert(1)</script>"), "Expected a PNG"},
		"a GIF":                   {[]byte("GIF89a\x01\x00\x01\x00"), "Expected a PNG"},
		"half a PNG":              {whole[:len(whole)/2], "can’t be read"},
		"a beginning":             {whole[:8], "can’t be read"},
		"a page behind WEBP":      {[]byte("RIFF0000WEBP<script>alert(1)</script>"), "can’t be read"},
		"a point":                 {asPNG(t, photo(1, 1)), "too small"},
		"a bomb":                  {bomb(60_000, 60_000), "too many pixels"},
		"a bomb that is thin":     {bomb(2_000_000_000, 20), "too many pixels"},
		"24 million pixels":       {bomb(6_000, 4_000), "can’t be read"},
		"a deep bomb":             {bombOf(6_000, 4_000, 16), "at most 12 million"},
		"12 million, deep":        {bombOf(4_000, 3_000, 16), "can’t be read"},
		"a bomb of no height":     {bomb(60_000, 0), "can’t be read"},
		"a progressive bomb":      {jpegBomb(6_000, 4_000, 0xc2, 3), "save it as a baseline JPEG"},
		"a bomb for print":        {jpegBomb(6_000, 4_000, 0xc0, 4), "save it as a baseline JPEG"},
		"24 million, baseline":    {jpegBomb(6_000, 4_000, 0xc0, 3), "can’t be read"},
		"12 million, progressive": {jpegBomb(4_000, 3_000, 0xc2, 4), "can’t be read"},
	} {
		_, err := imaging.New().Decode(t.Context(), c.file, 100)
		if !fault.Is(err, fault.ValidationFailed) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v, want %q", name, err, c.message)
		}
	}
	if p, err := imaging.New().Decode(t.Context(), webp, 75); err != nil || p.Width != 56 || p.Height != 75 {
		t.Errorf("a WebP file: %d × %d, %v", p.Width, p.Height, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(bomb(20, 20))
	f.Add(webp)
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00MM\x00\x2a\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := imaging.New().Decode(t.Context(), file, 64)
		if err == nil && (p.Width > 64 || p.Height > 64 || len(p.Body) == 0) {
			t.Errorf("%d × %d, %d bytes", p.Width, p.Height, len(p.Body))
		}
	})
}
