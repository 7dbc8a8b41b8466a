package appointment

import (
	"net/url"
	"time"
)

// CalendarLinks add an appointment to the calendars that people have. File is a calendar file, which Apple's opens.
type CalendarLinks struct{ Google, Outlook, File string }

// NewCalendarLinks makes the links of an appointment; where is its address or its meeting link, file its calendar file.
func NewCalendarLinks(title, where string, starts, ends time.Time, file string) CalendarLinks {
	const basic = "20060102T150405Z"
	google := url.Values{
		"action": {"TEMPLATE"}, "text": {title}, "location": {where},
		"dates": {starts.UTC().Format(basic) + "/" + ends.UTC().Format(basic)},
	}
	outlook := url.Values{
		"path": {"/calendar/action/compose"}, "rru": {"addevent"}, "subject": {title}, "location": {where},
		"startdt": {starts.UTC().Format(time.RFC3339)}, "enddt": {ends.UTC().Format(time.RFC3339)},
	}
	return CalendarLinks{
		Google:  "https://calendar.google.com/calendar/render?" + google.Encode(),
		Outlook: "https://outlook.live.com/calendar/0/deeplink/compose?" + outlook.Encode(),
		File:    file,
	}
}
