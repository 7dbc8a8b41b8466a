package identity

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"sundry/core/checkout"
	"sundry/core/email"
	"sundry/core/fault"
	"sundry/core/image"
	"sundry/core/payout"
	"sundry/core/text"
	"sundry/core/webhook"
)

// maxRefundPolicy bounds a refund policy, in characters: what a buyer still reads beside the payment button.
const maxRefundPolicy = 5000

const maxLogoURL = 2048

var accentColor = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// Profile contains the facts about a creator that buyers see beside the name. Empty members are not shown.
type Profile struct {
	// LogoURL is an https address of a PNG, JPEG, GIF or WebP image, or the path of one that was uploaded (core/image).
	LogoURL string
	// AccentColor is the color of buttons, #rrggbb in lower case.
	AccentColor string
	// SupportEmail is the address that buyers write to, normalized.
	SupportEmail string
	// RefundPolicy is plain text, with line breaks.
	RefundPolicy string
	// EmbedOrigins are the sites that may show the creator's checkouts in a frame.
	EmbedOrigins checkout.EmbedOrigins
}

// Storefront is the seller as buyers see them.
type Storefront struct {
	Name string
	Profile
}

// Storefront returns the creator as buyers see them.
func (c *Creator) Storefront() Storefront { return Storefront{c.s.DisplayName, c.s.Profile} }

// Notifications are the mails that a creator can go without. Those about disputes and failures always come.
type Notifications struct{ Orders, Payouts bool }

// PayoutScheduleChanged is emitted when a creator chooses another schedule of payouts.
type PayoutScheduleChanged struct {
	CreatorID string
	Schedule  payout.Schedule
}

// EventName implements event.Event.
func (PayoutScheduleChanged) EventName() string { return "identity.payout_schedule_changed" }

// ProfileEdit holds the members of a profile that a request sets; nil leaves a member as it is, "" clears one that a
// creator can do without.
type ProfileEdit struct {
	DisplayName  *string
	LogoURL      *string
	AccentColor  *string
	SupportEmail *string
	RefundPolicy *string
	// EmbedOrigins are the origins as they were written; empty for none.
	EmbedOrigins *[]string
	// PayoutSchedule is no part of what buyers see.
	PayoutSchedule *payout.Schedule
	// NotifyOrders and NotifyPayouts switch mails to the creator on and off.
	NotifyOrders, NotifyPayouts *bool
}

// Clean normalizes the members given and lists everything that is wrong with them.
func (e ProfileEdit) Clean() (ProfileEdit, error) {
	var f fault.Violations
	if e.DisplayName != nil {
		e.DisplayName = new(checkName(&f, "displayName", *e.DisplayName))
	}
	if given(e.LogoURL) {
		checkLogoURL(&f, "logoUrl", *e.LogoURL)
	}
	if given(e.AccentColor) {
		e.AccentColor = new(strings.ToLower(*e.AccentColor))
		f.Check(accentColor.MatchString(*e.AccentColor), "accentColor", fault.DetailInvalid, "Expected a color as #rrggbb, "+
			"such as #4f46e5.")
	}
	if given(e.SupportEmail) {
		address, ok := email.Parse(*e.SupportEmail)
		f.Check(ok, "supportEmail", fault.DetailInvalid, "This is not an email address.")
		e.SupportEmail = &address
	}
	if given(e.RefundPolicy) {
		policy := strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(*e.RefundPolicy))
		text.CheckLines(&f, "refundPolicy", policy, maxRefundPolicy)
		e.RefundPolicy = &policy
	}
	if e.EmbedOrigins != nil {
		e.EmbedOrigins = new(checkout.CleanEmbedOrigins("embedOrigins", *e.EmbedOrigins, &f))
	}
	if e.PayoutSchedule != nil {
		e.PayoutSchedule.Check(&f, "payoutSchedule")
	}
	return e, f.Err()
}

func given(s *string) bool { return s != nil && *s != "" }

func checkLogoURL(f *fault.Violations, field, raw string) {
	u, err := url.Parse(raw)
	switch {
	case image.IDOf(raw) != "":
	case len(raw) > maxLogoURL:
		f.Addf(field, fault.DetailTooLong, "The URL may have %d characters at most.", maxLogoURL)
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsFunc(raw, notInURL):
		f.Add(field, fault.DetailInvalid, "Expected the https URL of an image, such as https://example.com/logo.png.")
	default:
		webhook.CheckURL(field, raw, webhook.Policy{}, f) // it is fetched, as events are sent
	}
}

func notInURL(r rune) bool { return r == '\\' || unicode.IsSpace(r) || unicode.IsControl(r) }

// EditProfile changes the members given and reports whether anything changed; an edit that changes nothing leaves the
// revision alone. VALIDATION_FAILED.
func (c *Creator) EditProfile(e ProfileEdit) (changed bool, err error) {
	if e, err = e.Clean(); err != nil {
		return false, err
	}
	next := c.s
	set(&next.DisplayName, e.DisplayName)
	set(&next.Profile.LogoURL, e.LogoURL)
	set(&next.Profile.AccentColor, e.AccentColor)
	set(&next.Profile.SupportEmail, e.SupportEmail)
	set(&next.Profile.RefundPolicy, e.RefundPolicy)
	if e.EmbedOrigins != nil {
		next.Profile.EmbedOrigins = checkout.JoinEmbedOrigins(*e.EmbedOrigins)
	}
	set(&next.PayoutSchedule, e.PayoutSchedule)
	set(&next.Notifications.Orders, e.NotifyOrders)
	set(&next.Notifications.Payouts, e.NotifyPayouts)
	if next == c.s {
		return false, nil
	}
	next.Revision++
	c.s = next
	return true, nil
}

func set[T any](target, value *T) {
	if value != nil {
		*target = *value
	}
}
