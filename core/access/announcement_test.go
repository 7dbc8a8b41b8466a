package access_test

import (
	"reflect"
	"testing"
	"time"

	"sundry/core/access"
)

func TestAnnounceAt_IsTwoSecondsAfterTheLast(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ last, want time.Time }{
		"never announced":      {time.Time{}, noon},
		"just now":             {noon, noon.Add(2 * time.Second)},
		"a second ago":         {noon.Add(-time.Second), noon.Add(time.Second)},
		"two seconds ago":      {noon.Add(-2 * time.Second), noon},
		"more than that ago":   {noon.Add(-time.Hour), noon},
		"after the clock fell": {noon.Add(time.Minute), noon.Add(62 * time.Second)},
		"a nanosecond too few": {noon.Add(-2*time.Second + 1), noon.Add(1)},
	} {
		d := access.Document{Announced: access.Announcement{Version: 3, At: c.last}}
		if got := d.AnnounceAt(noon); !got.Equal(c.want) {
			t.Errorf("%s: at %v, want %v", name, got, c.want)
		}
	}
}

func TestAnnounce_NamesAllThatChangedSinceTheLast(t *testing.T) {
	t.Parallel()
	d := access.Document{
		CreatorID: "crt_1", ExternalCustomerID: "ada", Version: 7, ETag: `"x"`,
		Announced: access.Announcement{Version: 4, At: noon.Add(-time.Hour)},
	}
	next, got := d.Announce([]access.Changed{
		{Version: 5, Changed: []string{"entitlements", "credits"}}, {Version: 6},
		{Version: 7, Changed: []string{"activePlans", "credits"}},
	}, noon)
	want := access.Announced{
		CreatorID: "crt_1", ExternalCustomerID: "ada", Version: 7, PreviousVersion: 4,
		Changed: []string{"activePlans", "credits", "entitlements"},
	}
	if !reflect.DeepEqual(got, want) || got.EventName() != "access.announced" {
		t.Errorf("announced %+v, want %+v", got, want)
	}
	d.Announced = access.Announcement{Version: 7, At: noon}
	if !reflect.DeepEqual(next, d) {
		t.Errorf("the document became %+v, want %+v", next, d)
	}
	view := access.AnnouncedView{ExternalCustomerID: "ada", Version: 7, PreviousVersion: 4, Changed: want.Changed}
	if shown := got.View(); !reflect.DeepEqual(shown, view) {
		t.Errorf("shown as %+v, want %+v", shown, view)
	}
	if _, none := d.Announce(nil, noon); none.Changed == nil || len(none.Changed) != 0 {
		t.Errorf("without changes: %v, want an empty list", none.Changed)
	}
}
