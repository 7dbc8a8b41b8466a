package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/paymentlink"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/tax"
	"sundry/ports"
)

// Document is an account's catalog as a file: everything by stable keys and nothing by id, so that the same file
// makes the same catalog in sandbox and live.
type Document struct {
	Version  int               `json:"version"`
	Listings []DocumentListing `json:"listings"`
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
	PriceInCents int64          `json:"priceInCents"`
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
}

// DocumentLink is a payment link. What it sells and where it leads is its key: its address differs in every deployment.
type DocumentLink struct {
	Variant    string          `json:"variant"`
	Plan       string          `json:"plan"`
	Interval   period.Interval `json:"interval"`
	Currency   money.Currency  `json:"currency,omitempty"`
	SuccessURL string          `json:"successUrl"`
	Active     bool            `json:"active"`
}

// key returns the identity of a link among those of its listing.
func (l DocumentLink) key() string {
	return strings.Join([]string{l.Variant, l.Plan, string(l.Interval), string(l.Currency), l.SuccessURL}, " ")
}

// ReadDocument reads a catalog file strictly.
func ReadDocument(raw []byte) (d Document, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	decoder.UseNumber() // integers of metadata and entitlements stay exact
	if err := decoder.Decode(&d); err != nil {
		return Document{}, fmt.Errorf("read the catalog: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Document{}, errors.New("read the catalog: something follows the document")
	}
	if d.Version != documentVersion {
		return Document{}, fmt.Errorf("read the catalog: version %d is not %d", d.Version, documentVersion)
	}
	return d, nil
}

// Write renders the document as a file.
func (d Document) Write(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(d)
}

// Export returns the account's whole catalog without archived listings, in the order of the keys.
func (s *Service) Export(ctx context.Context, creatorID string) (Document, error) {
	var d Document
	err := s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		d, err = export(ctx, r, creatorID)
		return err
	})
	return d, err
}

// everything asks a list for all its pages.
func everything[T any](list func(ports.Page) (ports.List[T], error)) ([]T, error) {
	var all []T
	for page := (ports.Page{Limit: 100}); ; {
		found, err := list(page)
		if err != nil {
			return nil, err
		}
		all = append(all, found.Items...)
		if found.Next == (ports.Cursor{}) {
			return all, nil
		}
		page.After = found.Next
	}
}

func export(ctx context.Context, r ports.Repos, creatorID string) (Document, error) {
	d := Document{Version: documentVersion, Listings: []DocumentListing{}}
	listings, err := everything(func(p ports.Page) (ports.List[listing.State], error) {
		return r.Catalog.Listings.List(ctx, creatorID, p)
	})
	if err != nil {
		return Document{}, err
	}
	links, err := everything(func(p ports.Page) (ports.List[paymentlink.State], error) {
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
		d.Listings = append(d.Listings, newDocumentListing(l, plans.Live(), links))
	}
	slices.SortFunc(d.Listings, func(a, b DocumentListing) int { return strings.Compare(a.Key, b.Key) })
	return d, nil
}

func newDocumentListing(l listing.State, plans []plan.State, links []paymentlink.State) DocumentListing {
	d := DocumentListing{
		Key: l.CatalogKey, Slug: l.Slug, Type: l.Type, Status: l.Status, Title: l.Title, Description: l.Description,
		PriceInCents: l.Price.Minor, Currency: string(l.Price.Currency), TaxBehavior: l.TaxBehavior,
		TrialOncePerCustomer: &l.TrialOncePerCustomer, OneSubscriptionPerCustomer: &l.OneSubscriptionPerCustomer,
		Metadata: l.Metadata,
		Variants: []DocumentVariant{}, Plans: []DocumentPlan{}, PaymentLinks: []DocumentLink{},
	}
	for _, v := range l.Variants {
		d.Variants = append(d.Variants, DocumentVariant{
			v.Key, v.Name, v.DurationMinutes, v.SessionCount, v.PriceInCents, v.IsDefault,
		})
	}
	for _, p := range plans {
		d.Plans = append(d.Plans, newDocumentPlan(p))
	}
	for _, link := range links {
		if link.ListingID == l.ID {
			d.PaymentLinks = append(d.PaymentLinks, newDocumentLink(l, link))
		}
	}
	slices.SortFunc(d.Variants, func(a, b DocumentVariant) int { return strings.Compare(a.Key, b.Key) })
	// Of links that are alike one is enough; an active one before the others.
	slices.SortStableFunc(d.PaymentLinks, func(a, b DocumentLink) int {
		if byKey := strings.Compare(a.key(), b.key()); byKey != 0 || a.Active == b.Active {
			return byKey
		}
		if a.Active {
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
		Meters: append([]plan.Meter{}, p.Terms.Meters...),
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
			Key: e.Key, Type: string(e.Type), Value: e.Value(),
		})
	}
	return d
}

func newDocumentLink(l listing.State, link paymentlink.State) DocumentLink {
	d := DocumentLink{
		Plan: link.PlanKey, Interval: link.Interval, Currency: link.Currency, SuccessURL: link.SuccessURL,
		Active: link.Active,
	}
	if link.VariantID != "" {
		if v, err := l.Variant(link.VariantID); err == nil {
			d.Variant = v.Key
		}
	}
	return d
}

// errPreview ends an import that was only a preview.
var errPreview = errors.New("preview")

// PreviewImport returns what Import would change, a line each, and changes nothing. Refuses as Import.
func (s *Service) PreviewImport(ctx context.Context, creatorID string, d Document) ([]string, error) {
	var changes []string
	err := s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		if changes, err = s.importInto(ctx, r, creatorID, d); err != nil {
			return err
		}
		return errPreview
	})
	if !errors.Is(err, errPreview) {
		return nil, err
	}
	return changes, nil
}

// Import makes the listings of a document match it, all or none: variants, plans and prices that it does not name are
// removed or retired, listings and payment links that it does not name are left alone. Again, it changes nothing. It
// returns what changed, a line each. Faults: those of the use cases, with the listing's key as the path.
func (s *Service) Import(ctx context.Context, creatorID string, d Document) (changes []string, err error) {
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		changes, err = s.importInto(ctx, r, creatorID, d)
		return err
	})
	return changes, err
}

func (s *Service) importInto(ctx context.Context, r ports.Repos, creatorID string, d Document) ([]string, error) {
	before, err := export(ctx, r, creatorID)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, wanted := range d.Listings {
		if seen[wanted.Key] {
			return nil, fault.Invalid(fault.Detail{
				Field: wanted.Key, Code: fault.DetailDuplicate, Message: "Two listings of the document have this key.",
			})
		}
		seen[wanted.Key] = true
		if err := s.importListing(ctx, r, creatorID, wanted); err != nil {
			var f fault.Violations
			if err := f.Nest(wanted.Key).Merge(err); err != nil {
				return nil, fmt.Errorf("listing %s: %w", wanted.Key, err)
			}
			return nil, f.Err()
		}
	}
	after, err := export(ctx, r, creatorID)
	if err != nil {
		return nil, err
	}
	return difference(before, after), nil
}
