package access

import (
	"bytes"
	"encoding/json"
	"time"

	"sundry/core/apiformat"
	"sundry/core/usage"
)

// Meter is a customer's use of one meter in the current period, as of the last count.
type Meter struct {
	Key            string // the meter's event name
	MeterID        string
	SubscriptionID string
	Used           usage.Quantity
	Included       int64
	PeriodStart    time.Time
	PeriodEnd      time.Time
	AsOf           time.Time // zero before the first count
}

type meterJSON struct {
	Key            string         `json:"key"`
	MeterID        string         `json:"meterId"`
	SubscriptionID string         `json:"subscriptionId"`
	Used           usage.Quantity `json:"used"`
	Included       int64          `json:"included"`
	PeriodStart    *string        `json:"periodStart"`
	PeriodEnd      *string        `json:"periodEnd"`
	AsOf           *string        `json:"asOf"`
}

// WithMeters returns the document with these meters, sorted by key, in the place of those that it has. Its version
// stays: what a customer uses is no change of what they may use. changed is false when they are the same.
func (d Document) WithMeters(meters []Meter) (next Document, changed bool, err error) {
	list := make([]meterJSON, len(meters))
	for i, m := range meters {
		list[i] = meterJSON{
			m.Key, m.MeterID, m.SubscriptionID, m.Used, m.Included, apiformat.Time(m.PeriodStart), apiformat.Time(m.PeriodEnd),
			apiformat.Time(m.AsOf),
		}
	}
	raw, _ := json.Marshal(list) //nolint:errchkjson // texts and numbers only: it cannot fail
	if bytes.Equal(raw, d.meters()) {
		return d, false, nil
	}
	var body bodyRaw
	if err := json.Unmarshal(d.Body, &body); err != nil {
		return d, false, err
	}
	body.Meters = raw
	d.encode(body)
	return d, true, nil
}

// bodyRaw is the body with its members as they were written, in the order of bodyJSON.
type bodyRaw struct {
	ExternalCustomerID json.RawMessage `json:"externalCustomerId"`
	Livemode           json.RawMessage `json:"livemode"`
	ActivePlans        json.RawMessage `json:"activePlans"`
	Entitlements       json.RawMessage `json:"entitlements"`
	Credits            json.RawMessage `json:"credits"`
	Meters             json.RawMessage `json:"meters"`
	Version            json.RawMessage `json:"version"`
}

// meters returns the meters of the body; none for a document without a body. Grants do not contain meters, so a change
// of grants keeps them.
func (d Document) meters() json.RawMessage {
	var body bodyRaw
	_ = json.Unmarshal(d.Body, &body) // there may be none
	if body.Meters == nil {
		return json.RawMessage("[]")
	}
	return body.Meters
}
