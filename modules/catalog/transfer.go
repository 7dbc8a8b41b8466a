package catalog

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/paymentlink"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/tax"
	"sundry/core/usage"
	"sundry/core/webhook"
	"sundry/ports"
)

// Document is an account's catalog as a file: everything by stable keys and nothing by id, so that the same file
// makes the same catalog in sandbox and live.
//
// A part that is nil is left as it is by an import.
type Document struct {
	Version      int                     `json:"version"`
	Listings     []DocumentListing       `json:"listings"`
	Discounts    *[]DocumentDiscount     `json:"discounts,omitempty"`
	Usage        *usage.File             `json:"usage,omitempty"`
	Availability *appointment.File       `json:"availability,omitempty"`
	Endpoints    *[]webhook.EndpointFile `json:"endpoints,omitempty"`
	Branding     *identity.ProfileFile   `json:"branding,omitempty"`
}

// documentVersion is the version of the format.
const documentVersion = 1

// DocumentListing is a listing with all that belongs to it. Its key is the catalog key.
type DocumentListing struct {
	Key          string         `json:"key"`
	Slug         string         `json:"slug"`
	Type         listing.Type   `json:"type"`
	Status       listing.Status `json:"status"`
	Title        string         `json:"title"`
	Description  string         `json:"description"`
	PriceInCents *int64         `json:"priceInCents"`
	Currency     string         `json:"currency"`
	TaxBehavior  tax.Behavior   `json:"taxBehavior"`
	// The limits are nil in a document without them: they go on as they are.
	TrialOncePerCustomer       *bool             `json:"trialOncePerCustomer,omitempty"`
	OneSubscriptionPerCustomer *bool             `json:"oneSubscriptionPerCustomer,omitempty"`
	Metadata                   map[string]any    `json:"metadata"`
	Variants                   []DocumentVariant `json:"variants"`
	Plans                      []DocumentPlan    `json:"plans"`
	PaymentLinks               []DocumentLink    `json:"paymentLinks"`
}

// DocumentVariant is a variant of an appointment listing.
type DocumentVariant struct {
	Key             string `json:"key"`
	Name            string `json:"name"`
	DurationMinutes int    `json:"durationMinutes"`
	SessionCount    int    `json:"sessionCount"`
	Seats           int    `json:"seats,omitempty"`
	PriceInCents    *int64 `json:"priceInCents"`
	IsDefault       bool   `json:"isDefault"`
}

// DocumentPlan is a plan with its prices, entitlements and credits.
type DocumentPlan struct {
	Key          string                  `json:"key"`
	Name         string                  `json:"name"`
	IsDefault    bool                    `json:"isDefault"`
	TrialDays    int                     `json:"trialDays"`
	Prices       []plan.PriceDraft       `json:"prices"`
	Entitlements []plan.EntitlementDraft `json:"entitlements"`
	Credits      []plan.Credit           `json:"credits"`
	Meters       []plan.Meter            `json:"meters"`
	UsageCredits []plan.UsageCredit      `json:"usageCredits,omitempty"`
}

// DocumentLink is a payment link. What it sells and where it leads is its key: its address differs in every deployment.
type DocumentLink struct {
	Variant        string          `json:"variant"`
	Plan           string          `json:"plan"`
	Interval       period.Interval `json:"interval"`
	IntervalCount  int             `json:"intervalCount,omitempty"` // 0 is 1
	Currency       money.Currency  `json:"currency,omitempty"`
	BuyerMayChange []string        `json:"buyerMayChange,omitempty"`
	SuccessURL     string          `json:"successUrl"`
	// Active is nil in a document without it: a new link is active then, and one that is there stays as it is.
	Active *bool `json:"active"`
}

// key returns the identity of a link among those of its listing.
func (l DocumentLink) key() string {
	return strings.Join([]string{l.Variant, l.Plan, string(l.every()), string(l.Currency),
		strings.Join(l.BuyerMayChange, ","), l.SuccessURL}, " ")
}

func (l DocumentLink) inactive() bool { return l.Active != nil && !*l.Active }

func (l DocumentLink) every() period.Cadence { return period.Every(l.Interval, l.IntervalCount) }

// Check refuses a document of another version of the format, and listings whose keys can name none. VALIDATION_FAILED.
func (d Document) Check() error {
	var f fault.Violations
	f.Check(d.Version == documentVersion, "version", fault.DetailNotAllowed, "Expected the version 1 of the format.")
	f.Check(d.Listings != nil, "listings", fault.DetailRequired, "Expected a list of listings, which may be empty.")
	for i, l := range d.Listings {
		listing.CheckSlug(f.Item("listings", i), "key", l.Key)
	}
	return f.Err()
}

// Write renders the document as a file.
func (d Document) Write(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(d)
}

// listingsOf is the part of the document that listings make.
func listingsOf(ctx context.Context, r ports.Repos, creatorID string) (Document, error) {
	d := Document{Version: documentVersion, Listings: []DocumentListing{}}
	listings, err := ports.AllPages(func(p ports.Page) (ports.List[listing.State], error) {
		return r.Catalog.Listings.List(ctx, creatorID, p)
	})
	if err != nil {
		return Document{}, err
	}
	links, err := ports.AllPages(func(p ports.Page) (ports.List[paymentlink.State], error) {
		return r.Catalog.PaymentLinks.List(ctx, creatorID, p)
	})
	if err != nil {
		return Document{}, err
	}
	for _, l := range listings {
		if l.Status == listing.Archived {
			continue
		}
		plans, err := planSet(ctx, r, l)
		if err != nil {
			return Document{}, err
		}
		d.Listings = append(d.Listings, newDocumentListing(l, plans.Live(), linksOnSale(ctx, l, plans, links)))
	}
	slices.SortFunc(d.Listings, func(a, b DocumentListing) int { return strings.Compare(a.Key, b.Key) })
	return d, nil
}

// linksOnSale returns those of the links that sell something of a listing, with what their buyers may change of it now.
// One to a plan, price or variant that is no longer on sale opens nothing, and could not be created again.
func linksOnSale(
	ctx context.Context, l listing.State, plans *plan.Set, links []paymentlink.State,
) (onSale []paymentlink.State) {
	for _, link := range links {
		if link.ListingID != l.ID {
			continue
		}
		chosen := linkChoice(link)
		chosen.earlier = true
		if o, err := pickOf(ctx, l, live(l, plans), chosen); err == nil {
			link.BuyerMayChange = o.MayChange
			onSale = append(onSale, link)
		}
	}
	return onSale
}

func newDocumentListing(l listing.State, plans []plan.State, links []paymentlink.State) DocumentListing {
	d := DocumentListing{
		Key: l.CatalogKey, Slug: l.Slug, Type: l.Type, Status: l.Status, Title: l.Title, Description: l.Description,
		PriceInCents: &l.Price.Minor, Currency: string(l.Price.Currency), TaxBehavior: l.TaxBehavior,
		TrialOncePerCustomer: &l.TrialOncePerCustomer, OneSubscriptionPerCustomer: &l.OneSubscriptionPerCustomer,
		Metadata: l.Metadata,
		Variants: []DocumentVariant{}, Plans: []DocumentPlan{}, PaymentLinks: []DocumentLink{},
	}
	for _, v := range l.Variants {
		d.Variants = append(d.Variants, DocumentVariant{
			Key: v.Key, Name: v.Name, DurationMinutes: v.DurationMinutes, SessionCount: v.SessionCount, Seats: v.Seats,
			PriceInCents: v.PriceInCents, IsDefault: v.IsDefault,
		})
	}
	for _, p := range plans {
		d.Plans = append(d.Plans, newDocumentPlan(p))
	}
	for _, link := range links {
		d.PaymentLinks = append(d.PaymentLinks, newDocumentLink(l, link))
	}
	slices.SortFunc(d.Variants, func(a, b DocumentVariant) int { return strings.Compare(a.Key, b.Key) })
	// Of links that are alike one is enough; an active one before the others.
	slices.SortStableFunc(d.PaymentLinks, func(a, b DocumentLink) int {
		if byKey := strings.Compare(a.key(), b.key()); byKey != 0 || a.inactive() == b.inactive() {
			return byKey
		}
		if b.inactive() {
			return -1
		}
		return 1
	})
	d.PaymentLinks = slices.CompactFunc(d.PaymentLinks, func(a, b DocumentLink) bool { return a.key() == b.key() })
	return d
}

func newDocumentPlan(p plan.State) DocumentPlan {
	d := DocumentPlan{
		Key: p.Key, Name: p.Name, IsDefault: p.IsDefault, TrialDays: p.TrialDays, Prices: []plan.PriceDraft{},
		Entitlements: []plan.EntitlementDraft{}, Credits: append([]plan.Credit{}, p.Terms.Credits...),
		Meters: append([]plan.Meter{}, p.Terms.Meters...), UsageCredits: slices.Clone(p.Terms.UsageCredits),
	}
	for _, price := range p.Prices {
		minor := price.Amount.Minor
		draft := plan.PriceDraft{Currency: string(price.Amount.Currency), AmountInCents: &minor}
		if price.Interval != "" {
			interval, count := string(price.Interval), price.IntervalCount
			draft.Interval, draft.IntervalCount = &interval, &count
		}
		d.Prices = append(d.Prices, draft)
	}
	for _, e := range p.Terms.Entitlements {
		d.Entitlements = append(d.Entitlements, plan.EntitlementDraft{
			Key: e.Key, Type: string(e.Type), Value: e.Value(), PerSeat: e.PerSeat,
		})
	}
	return d
}

func newDocumentLink(l listing.State, link paymentlink.State) DocumentLink {
	d := DocumentLink{
		Plan: link.PlanKey, Currency: link.Currency, SuccessURL: link.SuccessURL,
		BuyerMayChange: link.BuyerMayChange.Names(), Active: &link.Active,
	}
	if d.Interval, d.IntervalCount = link.Every.Parts(); d.IntervalCount == 1 {
		d.IntervalCount = 0
	}
	if link.VariantID != "" {
		if v, err := l.Variant(link.VariantID); err == nil {
			d.Variant = v.Key
		}
	}
	return d
}
