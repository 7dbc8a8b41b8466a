package appointment

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/slot"
)

func picks(t testing.TB, texts ...string) []SlotChoice {
	t.Helper()
	var all []SlotChoice
	for i, text := range texts {
		all = append(all, SlotChoice{StartsAt: instant(t, text), Timezone: "Europe/Paris", Field: "appointmentSlots[" +
			string(rune('0'+i)) + "]"})
	}
	return all
}

func faults(err error) string {
	var all []string
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		for _, d := range refused.Details {
			all = append(all, d.Field+":"+d.Code)
		}
	}
	return strings.Join(all, " ")
}

func TestAPackIsSoManyTimesThatDoNotOverlap(t *testing.T) {
	t.Parallel()
	now := instant(t, "2026-06-15T07:30:00Z")
	const nine, half, ten, eleven, yesterday = "2026-06-15T09:00:00Z", "2026-06-15T09:30:00Z", "2026-06-15T10:00:00Z",
		"2026-06-15T11:00:00Z", "2026-06-14T09:00:00Z"
	buffered := listing.Metadata{listing.BufferAfter: int64(15)}
	for name, c := range map[string]struct {
		sessions int
		metadata listing.Metadata
		picks    []SlotChoice
		want     fault.Code
	}{
		"one of one":                   {1, nil, picks(t, nine), ""},
		"three of three":               {3, nil, picks(t, eleven, nine, ten), ""},
		"none of one":                  {1, nil, nil, fault.SlotCountMismatch},
		"two of one":                   {1, nil, picks(t, nine, ten), fault.SlotCountMismatch},
		"two of three":                 {3, nil, picks(t, nine, ten), fault.SlotCountMismatch},
		"too many before they overlap": {1, nil, picks(t, nine, nine), fault.SlotCountMismatch},
		"the same twice":               {2, nil, picks(t, nine, nine), fault.SlotsOverlap},
		"overlapping":                  {2, nil, picks(t, half, nine), fault.SlotsOverlap},
		"overlapping in the past":      {2, nil, picks(t, yesterday, yesterday), fault.SlotsOverlap},
		"without the creator's break":  {2, buffered, picks(t, nine, ten), fault.SlotsOverlap},
		"with the creator's break":     {2, buffered, picks(t, nine, eleven), ""},
		"one in the past":              {2, nil, picks(t, nine, yesterday), fault.SlotInPast},
		"now":                          {1, nil, picks(t, "2026-06-15T07:30:00Z"), fault.SlotInPast},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := slices.Clone(c.picks)
			chosen, err := bookable(c.sessions, c.metadata).Select(c.picks, now)
			if fault.CodeOf(err) != c.want || err != nil && chosen != nil {
				t.Fatalf("%v, %v; want %q", chosen, err, c.want)
			}
			for i, p := range chosen {
				if p.DeliveryMode != Virtual || !p.StartsAt.Equal(before[i].StartsAt) {
					t.Errorf("pick %d became %+v", i, p)
				}
			}
			if !slices.Equal(before, c.picks) {
				t.Errorf("the request changed: %+v", c.picks)
			}
		})
	}
}

func TestARefusedPackNamesWhatToChange(t *testing.T) {
	t.Parallel()
	now := instant(t, "2026-06-15T07:30:00Z")
	const nine, half, eleven = "2026-06-15T09:00:00Z", "2026-06-15T09:30:00Z", "2026-06-15T11:00:00Z"
	single := picks(t, nine, eleven)
	single[0].Field = "appointmentSlot"
	for name, c := range map[string]struct {
		sessions int
		picks    []SlotChoice
		want     string
	}{
		"no time":                           {1, nil, "appointmentSlots:TOO_SHORT"},
		"too few":                           {3, picks(t, nine, eleven), "appointmentSlots:TOO_SHORT"},
		"too many":                          {1, picks(t, nine, eleven), "appointmentSlots:TOO_LONG"},
		"too few under their own name":      {2, single[:1], "appointmentSlot:TOO_SHORT"},
		"under the name of the request":     {1, single, "appointmentSlot:TOO_LONG"},
		"the later of two that overlap":     {2, picks(t, half, nine), "appointmentSlots[0].startsAt:NOT_ALLOWED"},
		"two that are not next in the list": {3, picks(t, nine, eleven, half), "appointmentSlots[2].startsAt:NOT_ALLOWED"},
	} {
		if _, err := bookable(c.sessions, nil).Select(c.picks, now); faults(err) != c.want {
			t.Errorf("%s: %s, want %s", name, faults(err), c.want)
		}
	}
}

func TestTimesStartAsOftenAsTheListingSays(t *testing.T) {
	t.Parallel()
	for metadata, want := range map[int64]int{0: 60, 5: 5, 90: 90} {
		m := listing.Metadata{}
		if metadata != 0 {
			m[listing.SlotIntervalMinutes] = metadata
		}
		if got := bookable(1, m).Policy(); got.Step != want || got.Duration != 60 {
			t.Errorf("every %d minutes: %+v", metadata, got)
		}
	}
}

func TestEachPickSaysWhereAndInWhichZone(t *testing.T) {
	t.Parallel()
	now := instant(t, "2026-06-15T07:30:00Z")
	for name, c := range map[string]struct {
		method   string
		mode     DeliveryMode
		zone     string
		want     DeliveryMode
		code     fault.Code
		faultsAt string
	}{
		"online only, inferred": {"virtual", "", "UTC", Virtual, "", ""},
		"online only, named":    {"virtual", Virtual, "UTC", Virtual, "", ""},
		"online only, but in person": {"virtual", InPerson, "UTC", "", fault.ValidationFailed,
			"appointmentSlots[0].deliveryMode:NOT_ALLOWED"},
		"in person only, inferred": {"in_person", "", "UTC", InPerson, "", ""},
		"in person only, but online": {"in_person", Virtual, "UTC", "", fault.ValidationFailed,
			"appointmentSlots[0].deliveryMode:NOT_ALLOWED"},
		"hybrid, virtual":   {"hybrid", Virtual, "UTC", Virtual, "", ""},
		"hybrid, in person": {"hybrid", InPerson, "UTC", InPerson, "", ""},
		"hybrid, not named": {"hybrid", "", "UTC", "", fault.ValidationFailed,
			"appointmentSlots[0].deliveryMode:REQUIRED"},
		"hybrid, by pigeon": {"hybrid", "pigeon", "UTC", "", fault.ValidationFailed,
			"appointmentSlots[0].deliveryMode:NOT_ALLOWED"},
		"by pigeon": {"virtual", "pigeon", "UTC", "", fault.ValidationFailed,
			"appointmentSlots[0].deliveryMode:NOT_ALLOWED"},
		"no zone": {"virtual", "", "", "", fault.ValidationFailed,
			"appointmentSlots[0].timezone:REQUIRED"},
		"an offset": {"virtual", "", "+02:00", "", fault.InvalidTimezone,
			"appointmentSlots[0].timezone:INVALID"},
		"no zone and nothing chosen": {"hybrid", "", "x", "", fault.ValidationFailed,
			"appointmentSlots[0].timezone:INVALID appointmentSlots[0].deliveryMode:REQUIRED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := picks(t, "2026-06-15T09:00:00Z")
			p[0].DeliveryMode, p[0].Timezone = c.mode, c.zone
			chosen, err := bookable(1, listing.Metadata{listing.DeliveryMethod: c.method}).Select(p, now)
			if fault.CodeOf(err) != c.code || faults(err) != c.faultsAt {
				t.Fatalf("%v %s", err, faults(err))
			}
			if err == nil && chosen[0].DeliveryMode != c.want {
				t.Errorf("%+v", chosen)
			}
		})
	}
	if _, err := bookable(1, nil).Select([]SlotChoice{{Timezone: "UTC", Field: "appointmentSlot"}},
		now); faults(err) != "appointmentSlot.startsAt:REQUIRED" {
		t.Errorf("%v", err)
	}
}

func TestAPackIsAvailableOnlyTogether(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time { return instant(t, text) }
	q := slot.Query{Now: at("2026-06-01T00:00:00Z"),
		Busy:   slot.Busy{{From: at("2026-06-15T10:00:00Z"), Until: at("2026-06-15T11:00:00Z")}},
		Booked: []time.Time{at("2026-06-15T10:00:00Z")}}
	var err error
	if q.Availability, err = hours().Availability(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		metadata listing.Metadata
		picks    []SlotChoice
		want     fault.Code
	}{
		"free":                       {nil, picks(t, "2026-06-15T09:00:00Z", "2026-06-15T11:00:00Z"), ""},
		"one is taken":               {nil, picks(t, "2026-06-15T09:00:00Z", "2026-06-15T10:00:00Z"), fault.SlotTaken},
		"one twice":                  {nil, picks(t, "2026-06-15T09:00:00Z", "2026-06-15T09:00:00Z"), fault.SlotTaken},
		"one is not on the calendar": {nil, picks(t, "2026-06-15T09:00:00Z", "2026-06-15T11:30:00Z"), fault.SlotNotOffered},
		"a day takes two": {listing.Metadata{listing.DailyCap: int64(2)},
			picks(t, "2026-06-15T09:00:00Z", "2026-06-15T11:00:00Z"), fault.SlotTaken},
		"a day takes three": {listing.Metadata{listing.DailyCap: int64(3)},
			picks(t, "2026-06-15T09:00:00Z", "2026-06-15T11:00:00Z"), ""},
		"a week takes two": {listing.Metadata{listing.WeeklyCap: int64(2)},
			picks(t, "2026-06-16T09:00:00Z", "2026-06-21T11:00:00Z"), fault.SlotTaken},
		"the next week is another": {listing.Metadata{listing.WeeklyCap: int64(2)},
			picks(t, "2026-06-16T09:00:00Z", "2026-06-22T11:00:00Z"), ""},
	} {
		if err := bookable(2, c.metadata).Available(q, c.picks); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if len(q.Busy) != 1 || len(q.Booked) != 1 {
			t.Fatal("the query changed")
		}
	}
}

func TestEachRefusedTimeIsNamedWithItsReason(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time { return instant(t, text) }
	q := slot.Query{Now: at("2026-06-15T08:30:00Z"),
		Busy: slot.Busy{{From: at("2026-06-15T10:00:00Z"), Until: at("2026-06-15T11:00:00Z")}}}
	var err error
	if q.Availability, err = hours().Availability(); err != nil {
		t.Fatal(err)
	}
	times := picks(t, "2026-06-15T09:00:00Z", "2026-06-15T10:00:00Z", "2026-06-15T11:30:00Z", "2026-06-15T08:00:00Z")
	const want = "appointmentSlots[1].startsAt:TAKEN appointmentSlots[2].startsAt:NOT_OFFERED " +
		"appointmentSlots[3].startsAt:PAST"
	if err := bookable(4, nil).Available(q, times); fault.CodeOf(err) != fault.SlotTaken || faults(err) != want {
		t.Errorf("%v: %s, want %s", err, faults(err), want)
	}
	if err := Taken(times[1]); fault.CodeOf(err) != fault.SlotTaken ||
		faults(err) != "appointmentSlots[1].startsAt:TAKEN" {
		t.Errorf("%v: %s", err, faults(err))
	}
}

func TestAHoldKeepsSessionAndBuffers(t *testing.T) {
	t.Parallel()
	b := bookable(1, listing.Metadata{listing.BufferBefore: int64(10), listing.BufferAfter: int64(15)})
	now := instant(t, "2026-06-01T00:00:00Z")
	chosen, err := b.Select(picks(t, "2026-06-15T11:00:00+02:00"), now)
	if err != nil {
		t.Fatal(err)
	}
	got := b.Hold(chosen, "cs_1", func() string { return "clm_1" }, now)
	want := ReservationState{
		ID: "clm_1", CreatorID: "crt_1", ListingID: "lst_1", VariantID: "var_1", CheckoutID: "cs_1", Status: Held,
		StartsAt: instant(t, "2026-06-15T09:00:00Z"), EndsAt: instant(t, "2026-06-15T10:00:00Z"),
		Blocked:  slot.Interval{From: instant(t, "2026-06-15T08:50:00Z"), Until: instant(t, "2026-06-15T10:15:00Z")},
		Timezone: "Europe/Paris", DeliveryMode: Virtual, CreatedAt: now, Revision: 1,
	}
	if len(got) != 1 || !got[0].Blocked.From.Equal(want.Blocked.From) || !got[0].Blocked.Until.Equal(want.Blocked.Until) {
		t.Fatalf("%+v", got)
	}
	if got[0].Blocked = want.Blocked; got[0] != want {
		t.Errorf("%+v\nwant %+v", got[0], want)
	}
}

func TestNobodyIsToldToPublishWhatIsArchived(t *testing.T) {
	t.Parallel()
	for status, advised := range map[listing.Status]bool{listing.Draft: true, listing.Archived: false} {
		b := bookable(1, listing.Metadata{})
		b.Listing.Status = status
		if err := b.Ready(); err == nil || strings.Contains(err.Error(), "publish it") != advised {
			t.Errorf("%s: %v", status, err)
		}
	}
}

func TestReadinessNamesEachMissingThing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Bookable)
		want   string
	}{
		"nothing":         {func(*Bookable) {}, ""},
		"a draft":         {func(b *Bookable) { b.Listing.Status = listing.Draft }, "status:REQUIRED"},
		"an archived one": {func(b *Bookable) { b.Listing.Status = listing.Archived }, "status:REQUIRED"},
		"a book":          {func(b *Bookable) { b.Listing.Type = listing.Digital }, "type:REQUIRED"},
		"five minutes":    {func(b *Bookable) { b.Variant.DurationMinutes = 5 }, ""},
		"four minutes":    {func(b *Bookable) { b.Variant.DurationMinutes = 4 }, "variant.durationMinutes:REQUIRED"},
		"no hours":        {func(b *Bookable) { b.Hours = slot.NoSettings() }, "availability.weekly:REQUIRED"},
		"no link":         {func(b *Bookable) { b.Meetings.Virtual = nil }, "meetingSettings.virtual:REQUIRED"},
		"no link, hybrid": {func(b *Bookable) {
			b.Meetings.Virtual = nil
			b.Listing.Metadata[listing.DeliveryMethod] = "hybrid"
		}, "meetingSettings.virtual:REQUIRED"},
		"no link, in town": {func(b *Bookable) {
			b.Meetings.Virtual = nil
			b.Listing.Metadata[listing.DeliveryMethod] = "in_person"
		}, ""},
		"no address": {func(b *Bookable) {
			b.Meetings.InPerson = nil
			b.Listing.Metadata[listing.DeliveryMethod] = "in_person"
		}, "meetingSettings.inPerson.address:REQUIRED"},
		"the listing's own address": {func(b *Bookable) {
			b.Meetings.InPerson = nil
			b.Listing.Metadata[listing.DeliveryMethod], b.Listing.Metadata[listing.InPersonAddress] = "in_person",
				"2 Rue de Rivoli"
		}, ""},
		"a book by somebody without settings": {func(b *Bookable) {
			*b = Bookable{Listing: listing.State{Type: listing.Digital, Status: listing.Active}}
		}, "type:REQUIRED"},
		"no address, online": {func(b *Bookable) { b.Meetings.InPerson = nil }, ""},
		"everything": {func(b *Bookable) {
			*b = Bookable{Listing: listing.State{Type: listing.Appointment,
				Metadata: listing.Metadata{listing.DeliveryMethod: "hybrid"}}}
		}, "status:REQUIRED variant.durationMinutes:REQUIRED availability.weekly:REQUIRED meetingSettings.virtual:REQUIRED " +
			"meetingSettings.inPerson.address:REQUIRED"},
	} {
		b := bookable(1, listing.Metadata{})
		c.change(&b)
		err := b.Ready()
		if faults(err) != c.want || (err != nil) != (c.want != "") || err != nil && !fault.Is(err, fault.NotBookable) {
			t.Errorf("%s: %v: %s, want %s", name, err, faults(err), c.want)
		}
	}
}

func TestEveryFaultOfTheMeetingSettingsIsListed(t *testing.T) {
	t.Parallel()
	virtual := func(p Provider, url string) MeetingSettings { return MeetingSettings{Virtual: &VirtualMeeting{p, url}} }
	long := "https://meet.example.com/" + strings.Repeat("x", 2048-len("https://meet.example.com/"))
	place := func(address string) MeetingSettings { return MeetingSettings{InPerson: &Place{address}} }
	for name, c := range map[string]struct {
		settings MeetingSettings
		want     string
	}{
		"none":                    {MeetingSettings{}, ""},
		"a static address":        {virtual(Static, "https://meet.example.com/ada?pwd=1#x"), ""},
		"the public Jitsi":        {virtual(Jitsi, ""), ""},
		"a private Jitsi":         {virtual(Jitsi, "https://jitsi.example.com/team"), ""},
		"a static one without":    {virtual(Static, ""), "virtual.url:REQUIRED"},
		"plain http":              {virtual(Static, "http://meet.example.com"), "virtual.url:INVALID"},
		"a script":                {virtual(Static, "javascript:alert(1)"), "virtual.url:INVALID"},
		"a user name":             {virtual(Static, "https://me@meet.example.com"), "virtual.url:INVALID"},
		"a line break":            {virtual(Static, "https://meet.example.com/\r\nX: y"), "virtual.url:INVALID"},
		"a space":                 {virtual(Static, "https://meet.example.com/my room"), "virtual.url:INVALID"},
		"a bell after the hash":   {virtual(Static, "https://meet.example.com/#\a"), "virtual.url:INVALID"},
		"a delete after the hash": {virtual(Static, "https://meet.example.com/#\x7f"), "virtual.url:INVALID"},
		"no host":                 {virtual(Static, "https://:443/ada"), "virtual.url:INVALID"},
		"2048 characters":         {virtual(Static, long), ""},
		"2049 characters":         {virtual(Static, long+"x"), "virtual.url:INVALID"},
		"a Jitsi with a mark":     {virtual(Jitsi, "https://jitsi.example.com/?"), "virtual.url:INVALID"},
		"a Jitsi with a fragment": {virtual(Jitsi, "https://jitsi.example.com/#x"), "virtual.url:INVALID"},
		"a Jitsi with a hash":     {virtual(Jitsi, "https://jitsi.example.com/#"), "virtual.url:INVALID"},
		"a Jitsi room by query":   {virtual(Jitsi, "https://jitsi.example.com/?room="), "virtual.url:INVALID"},
		"another provider":        {virtual("skype", "https://skype.example.com"), "virtual.provider:NOT_ALLOWED"},
		"an account":              {virtual(Zoom, ""), ""},
		"an account's address":    {virtual(GoogleMeet, "https://meet.google.com/x"), "virtual.url:NOT_ALLOWED"},
		"an address of two lines": {place("1 Rue de Rivoli\n75001 Paris"), ""},
		"a blank address":         {place(" \n"), "inPerson.address:REQUIRED"},
		"a long address":          {place(strings.Repeat("x", 501)), "inPerson.address:TOO_LONG"},
		"a bell in the address":   {place("1 Rue\a"), "inPerson.address:INVALID"},
		"both wrong": {MeetingSettings{&VirtualMeeting{"skype", ""}, &Place{""}},
			"virtual.provider:NOT_ALLOWED inPerson.address:REQUIRED"},
	} {
		if err := c.settings.Check(); faults(err) != c.want {
			t.Errorf("%s: %s, want %s", name, faults(err), c.want)
		}
	}
}

func TestPolicy_OffersTimesByTheStep(t *testing.T) {
	t.Parallel()
	b := bookable(1, listing.Metadata{})
	for step, want := range map[int]int{0: 60, 15: 15} { // 0 is the length of a session
		b.Step = step
		if got := b.Policy().Step; got != want {
			t.Errorf("a step of %d offers each %d minutes, want %d", step, got, want)
		}
	}
}
