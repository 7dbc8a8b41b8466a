package listingtype_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/listingtype"
)

// faults lists what is wrong with metadata that consists of members of the type.
func faults(t *testing.T, kind listingtype.Type, metadata map[string]any) []string {
	t.Helper()
	var f fault.Violations
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		rule, known := kind.Metadata()[name]
		if !known {
			t.Fatalf("%s has no member %s", kind, name)
		}
		rule.Check(&f, name, metadata[name])
	}
	return faulttest.Lines(t, f.Err())
}

func TestMetadata_ChecksMembers(t *testing.T) {
	t.Parallel()
	n := func(s string) any { return json.Number(s) }
	features := func(count int) (all []any) {
		for i := range count {
			all = append(all, fmt.Sprint("feature ", i))
		}
		return all
	}
	for name, c := range map[string]struct {
		kind     listingtype.Type
		metadata map[string]any
		want     []string
	}{
		"every member of DIGITAL": {listingtype.Digital, map[string]any{
			"downloadUrl": "https://a.example/b?c#d", "fileFormat": "pdf", "fileSize": n("4096"),
			"previewUrl": "http://a.example", "pageCount": n("0"),
		}, nil},
		"every member of SERVICE": {listingtype.Service, map[string]any{
			"durationMinutes": n("90"), "deliveryDays": n("5"), "revisions": n("2"), "calendarUrl": "https://cal.example/me",
		}, nil},
		"every member of SUBSCRIPTION": {listingtype.Subscription, map[string]any{
			"interval": "year", "intervalCount": n("3"), "trialDays": n("730"), "features": []any{"Calls", "forum"},
		}, nil},
		"every member of APPOINTMENT": {listingtype.Appointment, map[string]any{
			"deliveryMethod": "hybrid", "bufferBeforeMinutes": n("0"), "bufferAfterMinutes": n("15"),
			"minimumNoticeMinutes": n("120"),
			"horizonDays":          n("30"), "slotIntervalMinutes": n("5"), "dailyCap": n("4"), "weeklyCap": n("20"),
			"fullRefundHours": n("24"), "inPersonAddress": "1 Main Street",
		}, nil},
		"wrong JSON types": {listingtype.Digital, map[string]any{"downloadUrl": n("1"), "fileFormat": []any{},
			"fileSize": "1", "pageCount": n("1.0"), "previewUrl": map[string]any{}}, []string{
			"downloadUrl WRONG_TYPE", "fileFormat WRONG_TYPE", "fileSize WRONG_TYPE", "pageCount WRONG_TYPE",
			"previewUrl WRONG_TYPE",
		}},
		"links with what breaks them": {listingtype.Digital, map[string]any{"downloadUrl": "https://a.example/my file",
			"previewUrl": "https://a.example/#\a", "imageUrl": "https://a.example/#\x7f"}, []string{
			"downloadUrl INVALID", "imageUrl INVALID", "previewUrl INVALID",
		}},
		"links of other kinds": {listingtype.Digital, map[string]any{"downloadUrl": "ftp://a.example/b",
			"previewUrl": "https://a.example/%zz"}, []string{"downloadUrl INVALID", "previewUrl INVALID"}},
		"a link of 2048": {listingtype.Digital, map[string]any{"downloadUrl": "https://a.example/" +
			strings.Repeat("a", 2030)}, nil},
		"a link of 2049": {listingtype.Digital, map[string]any{"downloadUrl": "https://a.example/" +
			strings.Repeat("a", 2031)}, []string{"downloadUrl TOO_LONG"}},
		"long texts": {listingtype.Appointment, map[string]any{"inPersonAddress": strings.Repeat("é", 501)},
			[]string{"inPersonAddress TOO_LONG"}},
		"the longest text": {listingtype.Appointment, map[string]any{"inPersonAddress": strings.Repeat("é", 500)},
			nil},
		"a long file format": {listingtype.Digital, map[string]any{"fileFormat": strings.Repeat("é", 51)},
			[]string{"fileFormat TOO_LONG"}},
		"the longest file format": {listingtype.Digital, map[string]any{"fileFormat": strings.Repeat("é", 50)}, nil},
		"a method that is a number": {listingtype.Appointment, map[string]any{"deliveryMethod": n("1")},
			[]string{"deliveryMethod WRONG_TYPE"}},
		"one feature, not a list": {listingtype.Subscription, map[string]any{"features": "a"},
			[]string{"features WRONG_TYPE"}},
		"100 features": {listingtype.Subscription, map[string]any{"features": features(100)}, nil},
		"101 features, one empty": {listingtype.Subscription, map[string]any{"features": append(features(100), "")},
			[]string{"features TOO_LONG"}},
		"links that are none": {listingtype.Digital, map[string]any{"downloadUrl": "javascript:alert(1)",
			"previewUrl": "https://me:pw@a.example/"}, []string{"downloadUrl INVALID", "previewUrl INVALID"}},
		"a link without a host": {listingtype.Digital, map[string]any{"downloadUrl": "https:///x"},
			[]string{"downloadUrl INVALID"}},
		"a long link": {listingtype.Digital, map[string]any{"downloadUrl": "https://a.example/" +
			strings.Repeat("a", 2048)}, []string{"downloadUrl TOO_LONG"}},
		"numbers out of range": {listingtype.Appointment, map[string]any{"slotIntervalMinutes": n("4"),
			"horizonDays": n("0"), "dailyCap": n("99999999999999999999")}, []string{"dailyCap OUT_OF_RANGE",
			"horizonDays OUT_OF_RANGE", "slotIntervalMinutes OUT_OF_RANGE"}},
		"a method that is none": {listingtype.Appointment, map[string]any{"deliveryMethod": "phone"},
			[]string{"deliveryMethod NOT_ALLOWED"}},
		"features with faults": {listingtype.Subscription,
			map[string]any{"features": []any{"a", "", n("1"), "a", strings.Repeat("x", 101)}}, []string{
				"features[1] REQUIRED", "features[2] WRONG_TYPE", "features[3] DUPLICATE", "features[4] TOO_LONG",
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := faults(t, c.kind, c.metadata); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMetadata_NumbersHaveRanges(t *testing.T) {
	t.Parallel()
	for kind, members := range map[listingtype.Type]map[string][2]int64{
		listingtype.Digital:      {"fileSize": {0, 1 << 50}, "pageCount": {0, 1_000_000}},
		listingtype.Service:      {"durationMinutes": {1, 525_600}, "deliveryDays": {0, 3650}, "revisions": {0, 1000}},
		listingtype.Subscription: {"intervalCount": {1, 1095}, "trialDays": {0, 730}},
		listingtype.Appointment: {
			"bufferBeforeMinutes": {0, 1440}, "bufferAfterMinutes": {0, 1440}, "minimumNoticeMinutes": {0, 525_600},
			"horizonDays": {1, 730}, "slotIntervalMinutes": {5, 720},
			"dailyCap": {1, 1440}, "weeklyCap": {1, 10_080}, "fullRefundHours": {0, 8760},
		},
	} {
		for name, limits := range members {
			refused := []string{name + " OUT_OF_RANGE"}
			for value, want := range map[int64][]string{limits[0] - 1: refused, limits[0]: nil, limits[1]: nil, limits[1] +
				1: refused} {
				metadata := map[string]any{name: json.Number(strconv.FormatInt(value, 10))}
				if got := faults(t, kind, metadata); !slices.Equal(got, want) {
					t.Errorf("%s of %d: got %q, want %q", name, value, got, want)
				}
			}
		}
	}
}

func TestMetadata_KeepsStoredValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind        listingtype.Type
		given, want any
	}{
		"pageCount":  {listingtype.Digital, int64(3), int64(3)},
		"fileSize":   {listingtype.Digital, json.Number("4"), int64(4)},
		"fileFormat": {listingtype.Digital, "pdf", "pdf"},
		"imageUrl":   {listingtype.Digital, "https://a.example/b", "https://a.example/b"},
		"interval":   {listingtype.Subscription, "week", "week"},
		"features":   {listingtype.Subscription, []string{"a", "b"}, []string{"a", "b"}},
	} {
		var f fault.Violations
		if got := c.kind.Metadata()[name].Check(&f, name, c.given); !reflect.DeepEqual(got, c.want) || f.Err() != nil {
			t.Errorf("%s: got %v, %v; want %v", name, got, f.Err(), c.want)
		}
	}
}

func TestMetadata_Defaults(t *testing.T) {
	t.Parallel()
	got := map[string]any{}
	for _, kind := range listingtype.All() {
		for name, member := range kind.Metadata() {
			if member.Default != nil {
				got[name] = member.Default
			}
		}
	}
	want := map[string]any{
		"interval": "month", "intervalCount": int64(1), "trialDays": int64(0), "deliveryMethod": "virtual",
		"bufferBeforeMinutes": int64(0), "bufferAfterMinutes": int64(0), "minimumNoticeMinutes": int64(0),
		"horizonDays": int64(60), "maxGuests": int64(10),
		"customersMayPause": false,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
