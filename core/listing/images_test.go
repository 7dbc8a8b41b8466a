package listing_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/listing"
)

func TestImagesAreFewDescribedAndOfAListingThatIsSold(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	l := listing.Restore(listing.State{ID: "lst_1", Status: listing.Active})
	for n := range listing.MaxImages {
		if err := l.AddImage(listing.Image{ID: string(rune('a' + n)), Alt: " A fox "}, now); err != nil {
			t.Fatal(err)
		}
	}
	before := l.State()
	for name, c := range map[string]struct {
		err  error
		code fault.Code
	}{
		"one too many":      {l.AddImage(listing.Image{ID: "z"}, now), fault.LimitReached},
		"a long text":       {l.DescribeImage("a", strings.Repeat("x", 201), now), fault.ValidationFailed},
		"an unknown one":    {l.MoveImage("z", now), fault.NotFoundCode},
		"a removed unknown": {l.RemoveImage("z", now), fault.NotFoundCode},
	} {
		if !fault.Is(c.err, c.code) {
			t.Errorf("%s: %v, want %s", name, c.err, c.code)
		}
	}
	if after := l.State(); after.Revision != before.Revision || after.Images[0].Alt != "A fox" {
		t.Errorf("a refusal changed it: %+v", after)
	}
	if err := l.MoveImage("a", now); err != nil || l.State().Revision != before.Revision {
		t.Errorf("the first one moved: %v, revision %d", err, l.State().Revision)
	}
	if err := l.MoveImage("b", now); err != nil || l.State().Images[0].ID != "b" || before.Images[0].ID != "a" {
		t.Errorf("moved to %+v, %v", l.State().Images, err)
	}
	l.Archive(now)
	for _, err := range []error{l.AddImage(listing.Image{ID: "z"}, now), l.RemoveImage("a", now), l.DescribeImage("a", "x", now)} {
		if !fault.Is(err, fault.StateConflict) {
			t.Errorf("archived: %v", err)
		}
	}
}
