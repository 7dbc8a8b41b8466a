package checkout

import (
	"reflect"
	"testing"

	"sundry/adapters/web/order"
	"sundry/core/civil"
	"sundry/modules/booking"
)

func TestTheCalendarKnowsItsBounds(t *testing.T) {
	t.Parallel()
	last, _ := civil.ParseDate("2026-04-30")
	got := newCalendar(booking.Window{Timezone: "Europe/Paris", Until: last, Gap: 20}, true)
	if want := (&order.Calendar{Zone: "Europe/Paris", Until: "2026-04-30", Gap: 20}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if none := newCalendar(booking.Window{}, false); none.Zone != "" {
		t.Errorf("what cannot be booked: %+v", none)
	}
}
