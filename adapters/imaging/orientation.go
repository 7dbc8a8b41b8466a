package imaging

import (
	"bytes"
	"encoding/binary"
	"image"
)

// Cameras write pictures as their sensor is, and record in the Exif part of a JPEG file how to turn them.
const (
	upsideUp       = 1
	orientationTag = 0x0112
	shortType      = 3
)

// orientation returns the Exif orientation of a JPEG file, 1 to 8; 1 for everything else.
func orientation(file []byte) int {
	exif := exifOf(file)
	if len(exif) < 8 {
		return upsideUp
	}
	var order binary.ByteOrder = binary.LittleEndian
	if bytes.HasPrefix(exif, []byte("MM")) {
		order = binary.BigEndian
	}
	first := int64(order.Uint32(exif[4:8]))
	if first+2 > int64(len(exif)) {
		return upsideUp
	}
	entries := exif[first+2:]
	for range order.Uint16(exif[first:]) {
		if len(entries) < 12 {
			return upsideUp
		}
		if order.Uint16(entries) == orientationTag && order.Uint16(entries[2:]) == shortType {
			if found := int(order.Uint16(entries[8:])); found >= 1 && found <= 8 {
				return found
			}
			return upsideUp
		}
		entries = entries[12:]
	}
	return upsideUp
}

// exifOf is the TIFF part of a JPEG file's first Exif segment; nil for none.
func exifOf(file []byte) []byte {
	if !bytes.HasPrefix(file, []byte("\xff\xd8")) {
		return nil
	}
	for rest := file[2:]; len(rest) >= 4 && rest[0] == 0xff && rest[1] != 0xda; {
		size := int(binary.BigEndian.Uint16(rest[2:4]))
		if size < 2 || size+2 > len(rest) {
			return nil
		}
		segment := rest[4 : size+2]
		if tiff, found := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); rest[1] == 0xe1 && found {
			return tiff
		}
		rest = rest[size+2:]
	}
	return nil
}

// upright turns a picture by its orientation.
func upright(img image.Image, orientation int) image.Image {
	if orientation == upsideUp {
		return img
	}
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	turned := image.NewNRGBA(image.Rect(0, 0, w, h))
	if orientation >= 5 {
		turned = image.NewNRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			tx, ty := x, y
			switch orientation {
			case 2:
				tx = w - 1 - x
			case 3:
				tx, ty = w-1-x, h-1-y
			case 4:
				ty = h - 1 - y
			case 5:
				tx, ty = y, x
			case 6:
				tx, ty = h-1-y, x
			case 7:
				tx, ty = h-1-y, w-1-x
			case 8:
				tx, ty = y, w-1-x
			}
			turned.Set(tx, ty, img.At(b.Min.X+x, b.Min.Y+y))
		}
	}
	return turned
}
