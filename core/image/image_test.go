package image_test

import (
	"testing"

	"sundry/core/id"
	"sundry/core/image"
)

func TestThereAreLimits(t *testing.T) {
	t.Parallel()
	got := [...]int{image.MaxUpload, image.MaxPixels, image.MaxSide, image.MaxLogoSide, image.MaxPerAccount}
	if want := [...]int{1_000_000, 24_000_000, 1600, 512, 300}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestOnlyThePathOfAPictureOfOursBecomesAnAddress(t *testing.T) {
	t.Parallel()
	const base = "https://pay.example.com"
	ours := id.New(id.Image, [16]byte{1, 2, 3})
	for name, c := range map[string]struct {
		path, id, address string
	}{
		"one of ours": {image.Path(ours), ours, base + "/media/" + ours},
		"no id":       {"/media/logo.png", "", "/media/logo.png"},
		"an id of another kind": {"/media/" + id.New(id.Creator, [16]byte{1}), "", "/media/" +
			id.New(id.Creator, [16]byte{1})},
		"an id alone":    {ours, "", ours},
		"another folder": {"/files/" + ours, "", "/files/" + ours},
		"elsewhere":      {"https://example.com/media/" + ours, "", "https://example.com/media/" + ours},
		"nothing":        {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := image.IDOf(c.path); got != c.id {
				t.Errorf("the picture of %q is %q, want %q", c.path, got, c.id)
			}
			address := image.WithBase(base, c.path)
			if address != c.address {
				t.Errorf("%q is at %q, want %q", c.path, address, c.address)
			}
			if back := image.WithoutBase(base, address); back != c.path {
				t.Errorf("%q without its base is %q", address, back)
			}
		})
	}
	for _, foreign := range []string{base + "/media/logo.png", "https://example.com" + image.Path(ours)} {
		if got := image.WithoutBase(base, foreign); got != foreign {
			t.Errorf("%q became %q", foreign, got)
		}
	}
}
