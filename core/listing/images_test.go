package listing_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/image"
	"sundry/core/listing"
	"sundry/core/plan"
)

func TestImagesAreFewDescribedAndOfAListingThatIsSold(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	l := listing.Restore(listing.State{ID: "lst_1", Status: listing.Active})
	for n := range 8 {
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
	for _, err := range []error{l.AddImage(listing.Image{ID: "z"}, now), l.RemoveImage("a", now),
		l.DescribeImage("a", "x", now)} {
		if !fault.Is(err, fault.StateConflict) {
			t.Errorf("archived: %v", err)
		}
	}
}

func TestImagesKeepTheOrderThatTheyAreGiven(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		do   func(*listing.Listing) error
		want string
		code fault.Code
	}{
		"another comes last": {func(l *listing.Listing) error {
			return l.AddImage(listing.Image{ID: "d", Alt: " D "}, now)
		}, "a:A b:B c:C d:D", ""},
		"a move goes one place": {func(l *listing.Listing) error { return l.MoveImage("c", now) }, "a:A c:C b:B", ""},
		"one is described": {func(l *listing.Listing) error {
			return l.DescribeImage("b", " A fox ", now)
		}, "a:A b:A fox c:C", ""},
		"the first is removed":  {func(l *listing.Listing) error { return l.RemoveImage("a", now) }, "b:B c:C", ""},
		"the second is removed": {func(l *listing.Listing) error { return l.RemoveImage("b", now) }, "a:A c:C", ""},
		"a text of two lines": {func(l *listing.Listing) error {
			return l.AddImage(listing.Image{ID: "d", Alt: "a\nb"}, now)
		}, "a:A b:B c:C", fault.ValidationFailed},
	} {
		l := listing.Restore(listing.State{Status: listing.Active, Images: []listing.Image{{ID: "a", Alt: "A"},
			{ID: "b", Alt: "B"}, {ID: "c", Alt: "C"}}})
		if err := c.do(l); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, i := range l.State().Images {
			got = append(got, i.ID+":"+i.Alt)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAnOfferShowsTheListingsOwnPicturesFirst(t *testing.T) {
	t.Parallel()
	elsewhere := listing.Metadata{listing.ImageURL: "https://a.example/fox.png"}
	own := []listing.Image{{ID: "img_1", Alt: "A fox"}, {ID: "img_2"}}
	for name, c := range map[string]struct {
		s    listing.State
		want []plan.Picture
	}{
		"none": {listing.State{}, nil},
		"its own": {listing.State{Images: own}, []plan.Picture{{URL: image.Path("img_1"), Alt: "A fox"},
			{URL: image.Path("img_2")}}},
		"one that is elsewhere": {listing.State{Metadata: elsewhere}, []plan.Picture{{URL: "https://a.example/fox.png"}}},
		"its own, not the other": {listing.State{Metadata: elsewhere, Images: own[1:]},
			[]plan.Picture{{URL: image.Path("img_2")}}},
	} {
		c.s.Type = listing.Digital
		if got := c.s.Offer(plan.State{}, plan.Price{}, listing.Variant{}).Pictures; !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
