package usage

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/metadata"
)

const maxKey = 255

// Report is one use of a meter, as an integrator reports it.
type Report struct {
	// Either SubscriptionID or ExternalCustomerID is given.
	SubscriptionID     string
	ExternalCustomerID string
	EventName          string
	Quantity           Quantity
	Properties         map[string]string
	Key                string
	// At is the time of use, to the millisecond: the time given, else the time of the report.
	At time.Time
	// Fingerprint is equal for two reports of one key that are the same.
	Fingerprint [16]byte
}

// ReportDraft is a report as a request writes it.
type ReportDraft struct {
	SubscriptionID     string       `json:"subscriptionId"`
	ExternalCustomerID string       `json:"externalCustomerId"`
	Meter              string       `json:"meter"`
	Quantity           *json.Number `json:"quantity"`
	// Properties describe the use. Nothing of them is kept but what the meter counts by, and tells apart.
	Properties     map[string]string `json:"properties"`
	IdempotencyKey string            `json:"idempotencyKey"`
	Timestamp      *string           `json:"timestamp"`
}

// Parse checks the draft against the account's time and records every fault in f.
func (d ReportDraft) Parse(f *fault.Violations, now time.Time) Report {
	r := Report{
		SubscriptionID: d.SubscriptionID, ExternalCustomerID: d.ExternalCustomerID, EventName: d.Meter,
		Key: d.IdempotencyKey, At: now.Truncate(time.Millisecond),
		Quantity: d.check(f), Properties: d.Properties,
	}
	given := ""
	if d.Timestamp != nil {
		r.At = parseTime(f, "timestamp", *d.Timestamp, now)
		given = r.At.Format(time.RFC3339Nano)
	}
	members := []string{d.SubscriptionID, d.Meter, r.Quantity.String(), given}
	if d.ExternalCustomerID != "" {
		members = append(members, d.ExternalCustomerID)
	}
	if len(d.Properties) > 0 {
		members = append(members, "properties", metadata.New(d.Properties).Text())
	}
	r.Fingerprint = fingerprint(members...)
	return r
}

// check records every fault that does not depend on the account's time, and returns the quantity.
func (d ReportDraft) check(f *fault.Violations) (q Quantity) {
	f.Check(d.SubscriptionID != "" || d.ExternalCustomerID != "", "subscriptionId", fault.DetailRequired,
		"Expected the id of a subscription, or externalCustomerId.")
	f.Check(d.SubscriptionID == "" || d.ExternalCustomerID == "", "externalCustomerId", fault.DetailNotAllowed,
		"Send either subscriptionId or externalCustomerId, not both.")
	if d.ExternalCustomerID != "" {
		customer.ValidateExternalID("externalCustomerId", d.ExternalCustomerID, f)
	}
	f.Check(d.Meter != "", "meter", fault.DetailRequired, "Expected the eventName of a meter.")
	CheckKey(f, "idempotencyKey", d.IdempotencyKey)
	metadata.Check(d.Properties, f.Nest("properties"))
	if f.Check(d.Quantity != nil, "quantity", fault.DetailRequired, "Expected a JSON number.") {
		var err error
		q, err = ParseQuantity(d.Quantity.String())
		_ = f.Nest("quantity").Merge(err) // its only error is a fault of the request
	}
	return q
}

// CheckKey records what is wrong with an idempotency key.
func CheckKey(f *fault.Violations, field, key string) {
	f.Check(key != "", field, fault.DetailRequired, "Expected a key of your own for this request, such as a UUID.")
	f.Check(utf8.RuneCountInString(key) <= maxKey, field, fault.DetailTooLong, "Expected at most 255 characters.")
	f.Check(!strings.ContainsFunc(key, unicode.IsControl), field, fault.DetailInvalid,
		"Control characters are not allowed.")
}

// parseTime reads RFC 3339 and checks the window around now.
func parseTime(f *fault.Violations, field, text string, now time.Time) time.Time {
	at, ok := readTime(f, field, text)
	if !ok {
		return now
	}
	f.Check(!at.Before(now.Add(-MaxAge)), field, fault.DetailOutOfRange, "Expected a time of the last 35 days.")
	f.Check(!at.After(now.Add(MaxAhead)), field, fault.DetailOutOfRange, "Expected a time at most 5 minutes ahead.")
	return at
}

func readTime(f *fault.Violations, field, text string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339Nano, text)
	ok := f.Check(err == nil, field, fault.DetailInvalid, "Expected an RFC 3339 time such as 2026-01-31T15:04:05Z.")
	return at.UTC().Truncate(time.Millisecond), ok
}

// fingerprint hashes members whose boundaries cannot be confused: each comes after its length.
func fingerprint(members ...string) (out [16]byte) {
	text := make([]byte, 0, 192)
	for _, member := range members {
		text = append(binary.AppendUvarint(text, uint64(len(member))), member...)
	}
	sum := sha256.Sum256(text)
	copy(out[:], sum[:])
	return out
}

// Check lists every fault of a draft that can be seen without the account's time.
func (d ReportDraft) Check() error {
	var f fault.Violations
	d.check(&f)
	if d.Timestamp != nil {
		readTime(&f, "timestamp", *d.Timestamp)
	}
	return f.Err()
}
