package mailtemplate

import (
	"time"

	"sundry/core/webhook"
)

// KindEndpointDisabled notifies a creator that one of their webhook endpoints was disabled.
var KindEndpointDisabled = define("webhook_endpoint.disabled", endpointDisabled)

// EndpointDisabled holds the data of that mail.
type EndpointDisabled struct {
	ID      string    `json:"id"`
	URL     string    `json:"url"`
	Creator string    `json:"creator"`
	Reason  string    `json:"reason"` // one of webhook.DisabledBy…
	At      time.Time `json:"at"`     // account time
}

// EndpointDisabledOf returns the mail's data for an event.
func EndpointDisabledOf(e webhook.Disabled, creator string) EndpointDisabled {
	return EndpointDisabled{ID: e.ID, URL: e.URL, Creator: creator, Reason: e.DisabledReason, At: e.At}
}

func endpointDisabled(site Site, to reader, e EndpointDisabled) draft {
	return draft{
		Subject: to.words("endpoint.subject"), Preview: to.words("endpoint.preview"),
		Heading: to.words("endpoint.heading"),
		Lead:    []string{to.words("endpoint.lead", oneLine(e.Creator))},
		Rows: []row{
			{Label: to.words("endpoint.url"), Value: e.URL},
			{Label: to.words("endpoint.id"), Value: e.ID},
			{Label: to.words("endpoint.reason"), Value: to.words("endpoint.reason." + e.Reason)},
			{Label: to.words("endpoint.time"), Value: to.Moment(e.At)},
		},
		Links:  []link{{to.words("endpoint.open"), site.DashboardURL("/webhooks/" + e.ID)}},
		After:  []string{to.words("endpoint.after", e.ID)},
		Footer: to.words("endpoint.footer"),
	}
}
