package images_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/system"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/image"
	"sundry/modules/images"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const creatorID = "crt_1"

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// decoder keeps a file's bytes as its picture.
type decoder struct {
	maxSide int
	fails   error
}

// Decode implements ports.ImageDecoder.
func (d *decoder) Decode(_ context.Context, file []byte, maxSide int) (image.Picture, error) {
	d.maxSide = maxSide
	return image.Picture{ContentType: image.PNG, Body: file, Width: 3, Height: 2}, d.fails
}

// fixture is the module over a real store.
type fixture struct {
	*images.Service
	t       *testing.T
	store   *gormstore.Store
	decoder *decoder
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := &fixture{t: t, store: store, decoder: &decoder{}}
		w.Service = images.New(images.Deps{
			Store: store, Clock: testdb.NewClock(noon), IDs: system.NewIDs(), Decoder: w.decoder,
			Standing: fakes.Standing{},
		})
		test(t, w)
	})
}

// count returns the number of an account's pictures.
func (w *fixture) count(creatorID string) int64 {
	w.t.Helper()
	n, _, err := w.store.Read(w.t.Context()).Images.Used(w.t.Context(), creatorID)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func TestAnUploadedPictureIsShownToAnybody(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		file := []byte("a picture")
		imageID, err := w.Upload(t.Context(), creatorID, file, 512)
		if err != nil || !id.Valid(id.Image, imageID) || w.decoder.maxSide != 512 {
			t.Fatalf("%s, %v, no side longer than %d", imageID, err, w.decoder.maxSide)
		}
		got, err := w.Get(t.Context(), imageID)
		if err != nil || got.CreatorID != creatorID || !bytes.Equal(got.Body, file) || got.ContentType != image.PNG ||
			!got.CreatedAt.Equal(noon) {
			t.Errorf("%+v, %v", got, err)
		}
		again, err := w.Upload(t.Context(), creatorID, file, 512)
		if err != nil || again == imageID || w.count(creatorID) != 2 {
			t.Errorf("the same file again: %s, %v, %d pictures", again, err, w.count(creatorID))
		}
	})
}

func TestARefusedUploadKeepsNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		broken := fault.Invalid(fault.Detail{Field: "file", Code: fault.DetailInvalid, Message: "no picture"})
		for name, c := range map[string]struct {
			file  []byte
			fails error
			field string
		}{
			"nothing":         {nil, nil, "file"},
			"a byte too many": {make([]byte, image.MaxUpload+1), nil, "file"},
			"no picture":      {[]byte("x"), broken, "file"},
		} {
			w.decoder.fails = c.fails
			_, err := w.Upload(t.Context(), creatorID, c.file, 512)
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Code != fault.ValidationFailed || len(f.Details) != 1 || f.Details[0].Field != c.field {
				t.Errorf("%s: %v, want %s at %s", name, err, fault.ValidationFailed, c.field)
			}
		}
		if n := w.count(creatorID); n != 0 {
			t.Errorf("%d pictures are kept", n)
		}
		w.decoder.fails = nil
		if _, err := w.Upload(t.Context(), creatorID, make([]byte, image.MaxUpload), 512); err != nil {
			t.Errorf("the largest file: %v", err)
		}
	})
}

func TestAnAccountKeepsSoManyPictures(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			for i := range image.MaxPerAccount - 1 {
				err := r.Images.Insert(ctx, image.Stored{
					ID: fmt.Sprintf("img_%026d", i), CreatorID: creatorID, CreatedAt: noon,
					Picture: image.Picture{ContentType: image.PNG, Body: []byte{1}},
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Upload(t.Context(), creatorID, []byte("the last"), 512); err != nil {
			t.Errorf("the last: %v", err)
		}
		if _, err := w.Upload(t.Context(), creatorID, []byte("one more"), 512); !fault.Is(err, fault.LimitReached) {
			t.Errorf("one more: %v, want %s", err, fault.LimitReached)
		}
		if n := w.count(creatorID); n != image.MaxPerAccount {
			t.Errorf("%d pictures, want %d", n, image.MaxPerAccount)
		}
		if _, err := w.Upload(t.Context(), "crt_2", []byte("another's"), 512); err != nil {
			t.Errorf("another account: %v", err)
		}
	})
}

func TestAPictureThatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for _, imageID := range []string{"", "img_", "../secret", "pay_01h00000000000000000000000",
			system.NewIDs().New(id.Image)} {
			if _, err := w.Get(t.Context(), imageID); !fault.Is(err, fault.NotFoundCode) {
				t.Errorf("%q: %v, want %s", imageID, err, fault.NotFoundCode)
			}
		}
	})
}
