// Package quota holds the limits of what one account may use: one table of defaults, from which an operator may deviate
// for an account.
package quota

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/image"
	"sundry/core/webhook"
)

// Resource is something that an account uses and that is limited.
type Resource string

// The resources.
const (
	Requests         Resource = "requests"
	Sessions         Resource = "sessions"
	UsageEvents      Resource = "usage-events"
	APIKeys          Resource = "api-keys"
	Members          Resource = "members"
	Listings         Resource = "listings"
	WebhookEndpoints Resource = "webhook-endpoints"
	Images           Resource = "images"
	ImageStorage     Resource = "image-storage"
)

// Window is the time in which a resource that is limited per minute is restored.
const Window = time.Minute

// maxLimit bounds what an operator may set: rate limiters count in 32 bits, and nobody needs more.
const maxLimit = 1_000_000_000

// Row is the limit of one resource.
type Row struct {
	Resource Resource
	// Sandbox and Live are the defaults; 0 is no limit.
	Sandbox, Live int64
	// PerMinute is set for a resource that is counted per minute; the others are counted as long as they exist.
	PerMinute bool
	// Of names the resource in sentences.
	Of string
	// Room tells, in the words of a sentence, how to make room for another one; "" where that is not possible.
	Room string
}

var table = []Row{
	{Resource: Requests, Live: 6000, PerMinute: true, Of: "requests with its API keys"},
	{Resource: Sessions, Live: 600, PerMinute: true, Of: "new checkout sessions"},
	{Resource: UsageEvents, Live: 600_000, PerMinute: true, Of: "usage events"},
	{Resource: APIKeys, Sandbox: 1000, Live: 100, Of: "API keys", Room: "Revoke one first."},
	{Resource: Members, Sandbox: 100, Live: 100, Of: "members", Room: "Remove one first."},
	{Resource: Listings, Live: 1000, Of: "listings that are not archived", Room: "Archive one first."},
	{Resource: WebhookEndpoints, Sandbox: webhook.MaxEndpoints, Live: webhook.MaxEndpoints, Of: "webhook endpoints",
		Room: "Delete one first."},
	{Resource: Images, Sandbox: image.MaxPerAccount, Live: image.MaxPerAccount, Of: "images",
		Room: "Those that you removed count for 90 days."},
	{Resource: ImageStorage, Live: 100 << 20, Of: "bytes of images",
		Room: "Those that you removed count for 90 days."},
}

// Table returns the limits of all resources, in the order in which they are shown.
func Table() []Row { return slices.Clone(table) }

// Find returns the row of a resource. ok is false for a name that is none.
func Find(of Resource) (row Row, ok bool) {
	for _, row := range table {
		if row.Resource == of {
			return row, true
		}
	}
	return Row{}, false
}

// Default returns the limit of an account without one of its own; 0 is no limit.
func (r Row) Default(live bool) int64 {
	if live {
		return r.Live
	}
	return r.Sandbox
}

// Check refuses an addition after which the account would use more of the resource than the limit. LIMIT_REACHED.
func (r Row) Check(limit, used int64) error {
	if limit == 0 || used <= limit {
		return nil
	}
	return fault.Newf(fault.LimitReached, "%s", strings.TrimSpace(
		"This account may have "+strconv.FormatInt(limit, 10)+" "+r.Of+". "+r.Room+
			" The operator of this service can raise the limit."))
}

// TooMany refuses what exceeds the limit of a minute. RATE_LIMITED.
func (r Row) TooMany(wait time.Duration) error {
	return fault.TooMany(
		"This account has made too many "+r.Of+" in a minute. Wait as long as Retry-After specifies.", wait,
	)
}

// Override is a limit that an operator sets; Reset returns to the default.
type Override struct {
	Resource Resource
	Value    int64 // 0 is no limit
	Reset    bool
}

// ParseOverride reads "listings=50", "listings=none" or "listings=default". VALIDATION_FAILED.
func ParseOverride(text string) (Override, error) {
	name, value, _ := strings.Cut(text, "=")
	var f fault.Violations
	row, ok := Find(Resource(name))
	f.Check(ok, name, fault.DetailInvalid, "There is no such limit. The limits are "+names()+".")
	o := Override{Resource: row.Resource, Reset: value == "default"}
	if !o.Reset && value != "none" {
		n, err := strconv.ParseInt(value, 10, 64)
		f.Check(err == nil && n > 0 && n <= maxLimit, name, fault.DetailInvalid,
			"A limit is a whole number from 1 to 1000000000, none, or default.")
		o.Value = n
	}
	return o, f.Err()
}

func names() string {
	var all []string
	for _, row := range Table() {
		all = append(all, string(row.Resource))
	}
	return strings.Join(all, ", ")
}

// String returns the override as ParseOverride reads it.
func (o Override) String() string {
	switch {
	case o.Reset:
		return string(o.Resource) + "=default"
	case o.Value == 0:
		return string(o.Resource) + "=none"
	}
	return string(o.Resource) + "=" + strconv.FormatInt(o.Value, 10)
}
