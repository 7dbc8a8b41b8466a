package access

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"sundry/core/apiformat"
	"sundry/core/plan"
)

// Document is the snapshot of one customer as it is stored and served.
type Document struct {
	CreatorID          string
	ExternalCustomerID string
	// Version is 0 for a customer who never had access and rises by one with every change.
	Version int64
	// Body is the JSON that a reader is sent, byte for byte.
	Body []byte
	// ETag is the strong entity tag of Body, quotes included.
	ETag string
	// NextEnd is the earliest expiry of a grant; zero when none is due to expire.
	NextEnd time.Time
	// Announced is the latest announcement; zero before the first.
	Announced Announcement
}

// Cause explains a change of a snapshot: the kind of occurrence, and the id of the object it happened to.
type Cause struct {
	Kind CauseKind
	ID   string
}

// CauseKind names the occurrence.
type CauseKind string

// What changes a snapshot.
const (
	PurchasePaid         CauseKind = "purchase_paid"         // id of the payment
	SubscriptionStarted  CauseKind = "subscription_started"  // id of the subscription
	SubscriptionChanged  CauseKind = "subscription_changed"  // id of the subscription
	SubscriptionEnded    CauseKind = "subscription_ended"    // id of the subscription
	AppointmentsCanceled CauseKind = "appointments_canceled" // id of the checkout session
	CustomerRenamed      CauseKind = "customer_renamed"      // id of the customer
	CustomerErased       CauseKind = "customer_erased"       // id of the customer
	GrantCreated         CauseKind = "grant_created"         // id of the grant
	GrantRevoked         CauseKind = "grant_revoked"         // id of the grant
	GrantExpired         CauseKind = "grant_expired"         // id of the grant, the first of several
	CreditsConsumed      CauseKind = "credits_consumed"      // idempotency key of the use
)

// Changed is a change of a snapshot, which is kept as its history.
type Changed struct {
	CreatorID          string
	ExternalCustomerID string
	Version            int64
	PreviousVersion    int64
	// Changed are the members that differ: activePlans, entitlements, credits.
	Changed []string
	Cause   Cause
	At      time.Time // account time
}

// Empty returns the document of a customer without access: version 0.
func Empty(creatorID, externalCustomerID string, livemode bool) Document {
	d := Document{CreatorID: creatorID, ExternalCustomerID: externalCustomerID}
	d.render(Fold(nil), livemode)
	return d
}

// Next returns the document after the grants became what s sums up. ok is false when nothing in it changed; then d
// stays the current one, but for NextEnd, which may have moved without being seen.
func (d Document) Next(s Snapshot, livemode bool, cause Cause,
	at time.Time) (next Document, e Changed, ok bool, err error) {
	next = d
	next.Version++
	next.render(s, livemode)
	members, err := changedMembers(d.Body, next.Body)
	if err != nil {
		return d, e, false, fmt.Errorf("compare snapshots of %s: %w", d.ExternalCustomerID, err)
	}
	if len(members) == 0 {
		d.NextEnd = s.NextEnd
		return d, e, false, nil
	}
	return next, Changed{
		CreatorID: d.CreatorID, ExternalCustomerID: d.ExternalCustomerID, Version: next.Version, PreviousVersion: d.Version,
		Changed: members, Cause: cause, At: at,
	}, true, nil
}

// Matches reports whether the document is exactly what the grants give at its version.
func (d Document) Matches(s Snapshot, livemode bool) bool {
	want := d
	want.render(s, livemode)
	return bytes.Equal(d.Body, want.Body) && d.ETag == want.ETag && d.NextEnd.Equal(want.NextEnd)
}

func changedMembers(before, after []byte) ([]string, error) {
	var a, b map[string]json.RawMessage
	if err := json.Unmarshal(before, &a); err != nil {
		return nil, err
	}
	_ = json.Unmarshal(after, &b) // it was just written
	var changed []string
	for _, member := range []string{"activePlans", "entitlements", "credits"} {
		if !bytes.Equal(a[member], b[member]) {
			changed = append(changed, member)
		}
	}
	return changed, nil
}

// bodyJSON fixes the order of the members, so that equal snapshots are equal bytes.
type bodyJSON struct {
	ExternalCustomerID string            `json:"externalCustomerId"`
	Livemode           bool              `json:"livemode"`
	ActivePlans        []activePlanJSON  `json:"activePlans"`
	Entitlements       []entitlementJSON `json:"entitlements"`
	Credits            []creditJSON      `json:"credits"`
	Meters             json.RawMessage   `json:"meters"`
	Version            int64             `json:"version"`
}

type activePlanJSON struct {
	Key                string     `json:"key"`
	ListingKey         string     `json:"listingKey"`
	ListingID          string     `json:"listingId"`
	Interval           *string    `json:"interval"`
	Status             PlanStatus `json:"status"`
	Source             Source     `json:"source"`
	SourceID           string     `json:"sourceId"`
	StartedAt          *string    `json:"startedAt"`
	CurrentPeriodStart *string    `json:"currentPeriodStart"`
	CurrentPeriodEnd   *string    `json:"currentPeriodEnd"`
	TrialEndsAt        *string    `json:"trialEndsAt"`
	CancelAtPeriodEnd  bool       `json:"cancelAtPeriodEnd"`
	GraceEndsAt        *string    `json:"graceEndsAt"`
	Quantity           int        `json:"quantity,omitempty"`
}

type entitlementJSON struct {
	Key       string               `json:"key"`
	Type      plan.EntitlementType `json:"type"`
	Value     any                  `json:"value"`
	Sources   []string             `json:"sources"`
	ExpiresAt *string              `json:"expiresAt"`
}

type creditJSON struct {
	Key       string  `json:"key"`
	Unit      string  `json:"unit"`
	Granted   int64   `json:"granted"`
	Used      int64   `json:"used"`
	Balance   int64   `json:"balance"`
	ExpiresAt *string `json:"expiresAt"`
}

// render fills Body, ETag and NextEnd.
func (d *Document) render(s Snapshot, livemode bool) {
	body := bodyJSON{
		ExternalCustomerID: d.ExternalCustomerID, Livemode: livemode, Version: d.Version, Meters: d.meters(),
		ActivePlans:  make([]activePlanJSON, len(s.ActivePlans)),
		Entitlements: make([]entitlementJSON, len(s.Entitlements)),
		Credits:      make([]creditJSON, len(s.Credits)),
	}
	for i, p := range s.ActivePlans {
		body.ActivePlans[i] = activePlanJSON{
			Key: p.Key, ListingKey: p.ListingKey, ListingID: p.ListingID, Interval: apiformat.Text(string(p.Interval)),
			Status: p.Status,
			Source: p.Source, SourceID: p.SourceID, StartedAt: apiformat.Time(p.StartedAt),
			CurrentPeriodStart: apiformat.Time(p.CurrentPeriodStart), CurrentPeriodEnd: apiformat.Time(p.CurrentPeriodEnd),
			TrialEndsAt: apiformat.Time(p.TrialEndsAt), CancelAtPeriodEnd: p.CancelAtPeriodEnd,
			GraceEndsAt: apiformat.Time(p.GraceEndsAt), Quantity: p.Quantity,
		}
	}
	for i, e := range s.Entitlements {
		body.Entitlements[i] = entitlementJSON{e.Key, e.Type, e.Value(), e.Sources, apiformat.Time(e.ExpiresAt)}
	}
	for i, c := range s.Credits {
		body.Credits[i] = creditJSON{c.Key, c.Unit, c.Granted, c.Used, c.Balance(), apiformat.Time(c.ExpiresAt)}
	}
	d.encode(body)
	d.NextEnd = s.NextEnd
}

// encode fills Body and ETag.
func (d *Document) encode(body any) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		panic("access: a snapshot of strings, numbers and booleans cannot fail to encode: " + err.Error())
	}
	d.Body = bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	hash := sha256.Sum256(d.Body)
	d.ETag = `"` + base64.RawURLEncoding.EncodeToString(hash[:18]) + `"`
}
