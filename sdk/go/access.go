package sundry

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// Access is a customer's access snapshot: the plans, entitlements, credits and meters that they have now.
type Access struct {
	ExternalCustomerID string        `json:"externalCustomerId"`
	Livemode           bool          `json:"livemode"`
	ActivePlans        []ActivePlan  `json:"activePlans"`
	Entitlements       []Entitlement `json:"entitlements"`
	Credits            []Credit      `json:"credits"`
	Meters             []MeterUse    `json:"meters"`
	// Version rises by one with each change of access.
	Version int64 `json:"version"`
	// Stale is true for the last snapshot of a service that cannot be reached now.
	Stale bool `json:"-"`
}

// ActivePlan is a plan that gives access now.
type ActivePlan struct {
	Key               string     `json:"key"`
	ListingKey        string     `json:"listingKey"`
	Status            string     `json:"status"`
	Source            string     `json:"source"`
	SourceID          string     `json:"sourceId"`
	Quantity          int        `json:"quantity"` // 0 where one was bought
	CurrentPeriodEnd  *time.Time `json:"currentPeriodEnd"`
	CancelAtPeriodEnd bool       `json:"cancelAtPeriodEnd"`
}

// Entitlement is a feature. Value is true or false, a number or a text in JSON, as Type says.
type Entitlement struct {
	Key   string          `json:"key"`
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// Credit is a balance of prepaid units.
type Credit struct {
	Key     string `json:"key"`
	Unit    string `json:"unit"`
	Balance int64  `json:"balance"`
}

// MeterUse is the use of a meter in the current period. Used is exact.
type MeterUse struct {
	Key            string      `json:"key"`
	SubscriptionID string      `json:"subscriptionId"`
	Used           json.Number `json:"used"`
	Included       int64       `json:"included"`
}

// Allows reports whether the customer has a feature: a true boolean, a limit above 0 or any text.
func (a *Access) Allows(feature string) bool {
	for _, e := range a.Entitlements {
		if e.Key == feature {
			value := string(e.Value)
			return value != "false" && value != "0"
		}
	}
	return false
}

// Limit returns the number of an entitlement of the type limit; 0 for none.
func (a *Access) Limit(feature string) int64 {
	for _, e := range a.Entitlements {
		if e.Key == feature {
			limit, _ := strconv.ParseInt(string(e.Value), 10, 64) // of another type there is no limit
			return limit
		}
	}
	return 0
}

// HasPlan reports whether a plan of a listing, or any plan of it where plan is "", gives access.
func (a *Access) HasPlan(listing, plan string) bool {
	for _, p := range a.ActivePlans {
		if p.ListingKey == listing && (plan == "" || p.Key == plan) {
			return true
		}
	}
	return false
}

func accessPath(customer string) string { return "/v1/customer-access/" + url.PathEscape(customer) }

// Access reads what a customer, named by your own id, may use now.
func (c *Client) Access(ctx context.Context, customer string) (*Access, error) {
	return call[Access](ctx, c, http.MethodGet, accessPath(customer), nil)
}

// AccessAfter waits until the customer's access has a version above the given one, at most 25 seconds, and returns it
// as it is then. Use it on the page that a buyer comes back to.
func (c *Client) AccessAfter(ctx context.Context, customer string, version int64) (*Access, error) {
	path := accessPath(customer) + "?waitSeconds=25&afterVersion=" + strconv.FormatInt(version, 10)
	return call[Access](ctx, c, http.MethodGet, path, nil)
}

// While there is a snapshot to return instead, the service has askTimeout to respond in, is asked once and, after an
// outage, not before pause is over: what asks for access must not hang as long as the service does.
const (
	askTimeout = 2 * time.Second
	pause      = time.Second
)

// AccessCache keeps snapshots of customers' access. Within MaxAge it asks nobody; after it, it asks whether the
// snapshot is still current, which costs the service next to nothing; and while the service is down, it returns the
// last snapshot, marked Stale, after two seconds at most. It is safe for concurrent use.
type AccessCache struct {
	client *Client
	// maxAge is the age up to which a snapshot is returned without a request.
	maxAge time.Duration
	size   int
	mu     sync.Mutex
	known  map[string]knownAccess
	// changes counts what Changed was told, so that a response from before a change is not taken for current.
	changes int
}

type knownAccess struct {
	access Access
	etag   string
	asked  time.Time
}

// NewAccessCache makes a cache that asks again after maxAge, and keeps at most size customers (0 for 10,000).
func (c *Client) NewAccessCache(maxAge time.Duration, size int) *AccessCache {
	if size <= 0 {
		size = 10_000
	}
	return &AccessCache{client: c, maxAge: maxAge, size: size, known: map[string]knownAccess{}}
}

// Get returns what a customer may use. It fails only if the service cannot be reached and was never asked about the
// customer before, if it refuses the request, or if ctx is canceled.
func (a *AccessCache) Get(ctx context.Context, customer string) (*Access, error) {
	a.mu.Lock()
	last, found := a.known[customer]
	changes := a.changes
	a.mu.Unlock()
	if found && time.Since(last.asked) < a.maxAge {
		return &last.access, nil
	}
	client, header, caller := a.client, http.Header{}, ctx
	if found {
		once := client.config
		once.Retries = -1
		client = &Client{once}
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, askTimeout)
		defer end()
	}
	if last.etag != "" {
		header.Set("If-None-Match", last.etag)
	}
	fresh := Access{}
	response, err := client.send(ctx, http.MethodGet, accessPath(customer), nil, &fresh, header)
	switch {
	case err != nil && found && isOutage(err) && !errors.Is(caller.Err(), context.Canceled):
		return a.outlast(customer, last), nil
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusNotModified:
		fresh = last.access
		fresh.Stale = false
	}
	a.keep(customer, knownAccess{access: fresh, etag: response.Header.Get("Etag"), asked: time.Now()}, changes)
	return &fresh, nil
}

// outlast returns the last snapshot during an outage, and has others get it unasked until the pause is over.
func (a *AccessCache) outlast(customer string, last knownAccess) *Access {
	asked := last.asked
	last.access.Stale, last.asked = true, time.Now().Add(min(a.maxAge, pause)-a.maxAge)
	a.mu.Lock()
	defer a.mu.Unlock()
	if now, found := a.known[customer]; found && now.asked.Equal(asked) {
		a.known[customer] = last
	}
	return &last.access
}

// isOutage reports whether nobody could answer, as opposed to a refusal.
func isOutage(err error) bool {
	refusal, ok := errors.AsType[*Error](err)
	return !ok || refusal.Status >= http.StatusInternalServerError || refusal.Status == http.StatusTooManyRequests
}

// keep never replaces a snapshot by one of an earlier version, which a slower response may bring. What was asked for
// before the last of the changes is to be asked for again.
func (a *AccessCache) keep(customer string, fresh knownAccess, changes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.changes != changes {
		fresh.asked = time.Time{}
	}
	if a.known[customer].access.Version > fresh.access.Version {
		return
	}
	if _, found := a.known[customer]; !found && len(a.known) >= a.size {
		for other := range a.known { // any one: asking again costs little
			delete(a.known, other)
			break
		}
	}
	a.known[customer] = fresh
}

// Wait is AccessAfter with the result kept.
func (a *AccessCache) Wait(ctx context.Context, customer string, version int64) (*Access, error) {
	a.mu.Lock()
	changes := a.changes
	a.mu.Unlock()
	access, err := a.client.AccessAfter(ctx, customer, version)
	if err != nil {
		return nil, err
	}
	a.keep(customer, knownAccess{access: *access, asked: time.Now()}, changes)
	return access, nil
}

// Changed makes the next Get ask the service: call it with each event that your webhook endpoint receives. Events
// that are not about access change nothing. The snapshot is kept for an outage.
func (a *AccessCache) Changed(event *Event) {
	if event.Type != "customer.access_changed" {
		return
	}
	var about struct {
		ExternalCustomerID string `json:"externalCustomerId"`
	}
	if json.Unmarshal(event.Data, &about) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes++
	if last, found := a.known[about.ExternalCustomerID]; found {
		last.asked = time.Time{}
		a.known[about.ExternalCustomerID] = last
	}
}
