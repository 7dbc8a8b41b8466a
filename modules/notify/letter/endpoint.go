package letter

import (
	"time"

	"sundry/core/webhook"
)

// KindEndpointDisabled tells a creator that one of their webhook endpoints was switched off.
const KindEndpointDisabled Kind = "webhook_endpoint.disabled"

// EndpointDisabled is what that mail says.
type EndpointDisabled struct {
	ID      string    `json:"id"`
	URL     string    `json:"url"`
	Creator string    `json:"creator"`
	Reason  string    `json:"reason"` // one of webhook.DisabledBy…
	At      time.Time `json:"at"`     // account time
}

// EndpointDisabledOf takes the mail's words from what happened.
func EndpointDisabledOf(e webhook.Disabled, creator string) EndpointDisabled {
	return EndpointDisabled{ID: e.ID, URL: e.URL, Creator: creator, Reason: e.DisabledReason, At: e.At}
}

func endpointDisabled(_ Site, e EndpointDisabled) draft {
	return draft{
		Subject: words("endpoint.subject"), Preview: words("endpoint.preview"), Heading: words("endpoint.heading"),
		Lead: []string{words("endpoint.lead", oneLine(e.Creator))},
		Rows: []row{
			{Label: words("endpoint.url"), Value: e.URL},
			{Label: words("endpoint.id"), Value: e.ID},
			{Label: words("endpoint.reason"), Value: words("endpoint.reason." + e.Reason)},
			{Label: words("endpoint.time"), Value: moment(e.At)},
		},
		After:  []string{words("endpoint.after", e.ID, e.ID)},
		Footer: words("endpoint.footer"),
	}
}
