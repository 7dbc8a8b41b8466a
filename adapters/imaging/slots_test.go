package imaging

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"testing"
)

func TestPicturesAreDecodedOneAtATime(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewNRGBA(image.Rect(0, 0, 20, 20))); err != nil {
		t.Fatal(err)
	}
	d := New()
	d.slots <- struct{}{} // another is being decoded
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Decode(ctx, file.Bytes(), 20); !errors.Is(err, context.Canceled) {
		t.Errorf("a second picture at once: %v", err)
	}
	<-d.slots
	if _, err := d.Decode(t.Context(), file.Bytes(), 20); err != nil {
		t.Errorf("the next picture: %v", err)
	}
}
