package webhook

import (
	"strconv"
	"time"
)

// DeliveryStatus is the state of sending one event to one endpoint.
type DeliveryStatus string

// The statuses of a delivery. Pending includes waiting for a disabled endpoint to come back.
const (
	Pending   DeliveryStatus = "pending"
	Delivered DeliveryStatus = "delivered"
	Failed    DeliveryStatus = "failed"
)

// delays are the pauses between one attempt and the next. The first attempt is made at once.
var delays = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

// httpDates are the date formats of HTTP headers, with the two obsolete ones that every recipient must take (RFC 9110,
// section 5.6.7).
var httpDates = []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// maxRetryAfter bounds what a receiver may ask for.
const maxRetryAfter = 24 * time.Hour

// DeliveryState is a delivery's data.
type DeliveryState struct {
	ID            string
	CreatorID     string
	EventID       string
	EventType     string
	EndpointID    string
	Status        DeliveryStatus
	AttemptCount  int       // ever made
	RoundAttempts int       // made since it was last made due again: the place in the schedule
	NextAttemptAt time.Time // zero when none is due
	CreatedAt     time.Time
	Revision      int64
}

// Attempt is one try, as it is logged.
type Attempt struct {
	Number     int
	At         time.Time
	StatusCode int // 0 when there was no response
	Duration   time.Duration
	Error      string
	// ResponseBody is the first 16 kB of the response.
	ResponseBody string
}

// gone is the response of a receiver that wants no more (RFC 9110, section 15.5.11).
const gone = 410

// End returns the time at which the outcome was known.
func (a Attempt) End() time.Time { return a.At.Add(a.Duration) }

// Succeeded reports whether the receiver has taken the message.
func (a Attempt) Succeeded() bool { return a.StatusCode >= 200 && a.StatusCode < 300 }

// Gone reports whether the receiver responded that it wants no more.
func (a Attempt) Gone() bool { return a.StatusCode == gone }

// Delivery is the aggregate.
type Delivery struct{ s DeliveryState }

// NewDelivery is due at once.
func NewDelivery(s DeliveryState, now time.Time) *Delivery {
	s.Status, s.NextAttemptAt, s.CreatedAt, s.Revision = Pending, now, now, 1
	return &Delivery{s}
}

// RestoreDelivery rebuilds a delivery from its stored state.
func RestoreDelivery(s DeliveryState) *Delivery { return &Delivery{s} }

// State returns a copy of the data.
func (d *Delivery) State() DeliveryState { return d.s }

// Requeue makes a finished delivery due once more, by its owner's wish: the schedule begins again, the log goes on.
func (d *Delivery) Requeue(now time.Time) {
	d.s.Status, d.s.RoundAttempts, d.s.NextAttemptAt = Pending, 0, now
	d.s.Revision++
}

// Log counts an attempt that decides nothing: the delivery was made due again while it was under way.
func (d *Delivery) Log() {
	d.s.AttemptCount++
	d.s.Revision++
}

// Record applies an attempt. asked is the pause that the receiver requested (RetryAfter), jitter a random number in [0,
// 1).
func (d *Delivery) Record(a Attempt, asked time.Duration, jitter float64) (success bool) {
	d.Log()
	d.s.RoundAttempts++
	if a.Succeeded() {
		d.s.Status, d.s.NextAttemptAt = Delivered, time.Time{}
		return true
	}
	if d.s.RoundAttempts > len(delays) {
		d.s.Status, d.s.NextAttemptAt = Failed, time.Time{}
		return false
	}
	wait := delays[d.s.RoundAttempts-1]
	wait += time.Duration(float64(wait) * 0.1 * jitter)
	wait = max(wait, asked)
	d.s.NextAttemptAt = a.End().Add(wait)
	return false
}

// RetryAfter reads the header as seconds or as a date: never negative, at most 24 hours, 0 for anything else. A date is
// on the receiver's clock, so now is real time, whatever the account's clock shows.
func RetryAfter(header string, now time.Time) time.Duration {
	seconds, _ := strconv.ParseInt(header, 10, 64) // out of range: the nearest; no number: 0
	wait := time.Duration(min(max(seconds, 0), int64(maxRetryAfter/time.Second))) * time.Second
	for _, format := range httpDates {
		if at, err := time.Parse(format, header); err == nil {
			wait = at.Sub(now)
		}
	}
	return min(max(wait, 0), maxRetryAfter)
}
