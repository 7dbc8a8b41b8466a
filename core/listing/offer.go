package listing

import (
	"strings"

	"sundry/core/period"
	"sundry/core/plan"
)

// impliedPrice is the price of the implied plan: the listing's own, each interval of a subscription, else once. The
// default variant of an appointment listing may have a price of its own.
func (s State) impliedPrice() plan.Price {
	v, _ := s.Variant("") // without variants, the zero value has no price of its own
	return plan.Price{
		ID: s.PriceID, Amount: v.price(s.Price), Interval: period.Interval(s.Text(Interval)),
		IntervalCount: int(s.Number(IntervalCount)),
	}
}

// ImpliedPlan returns the plan under which a listing without plans is sold. The features of a subscription become
// boolean entitlements under their own names, so that the integrator asks for the names that the creator reads.
func (s State) ImpliedPlan() plan.State {
	terms := plan.Terms{Entitlements: []plan.Entitlement{}, Credits: []plan.Credit{}, Meters: []plan.Meter{}}
	features, _ := s.Metadata[Features].([]string)
	for _, feature := range features {
		terms.Entitlements = append(terms.Entitlements, plan.Entitlement{Key: feature, Type: plan.Boolean, Bool: true})
	}
	return plan.State{
		CreatorID: s.CreatorID, ListingID: s.ID, Key: plan.DefaultKey, Name: s.Title, IsDefault: true,
		TrialDays: int(s.Number(TrialDays)), Prices: []plan.Price{s.impliedPrice()}, Terms: terms,
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
}

// Offer freezes the listing at one price of one of its plans; v is the zero value unless it is for appointments. What
// the default variant costs takes the place of the listing's own price, not of a plan's; what another one costs was set
// for it alone, and goes before any one-time price.
func (s State) Offer(p plan.State, price plan.Price, v Variant) plan.Offer {
	o := plan.Offer{
		CreatorID: s.CreatorID, ListingID: s.ID, ListingKey: s.CatalogKey, ListingType: s.Type, Title: s.Title,
		Description: opening(s.Description),
		PlanKey:     p.Key, PlanName: p.Name, PriceID: price.ID, Interval: price.Interval, IntervalCount: price.IntervalCount,
		Price: price.Amount, TaxBehavior: s.TaxBehavior, Terms: p.Terms, Pictures: s.pictures(),
		DownloadURL: s.Text(DownloadURL), HasFiles: s.HasFiles,
	}
	if p.Key != plan.DefaultKey { // the implied plan has them as entitlements
		o.Features, _ = s.Metadata[Features].([]string)
	}
	if o.Recurring() {
		o.TrialDays = p.TrialDays
		o.OneTrial, o.OneSubscription = s.TrialOncePerCustomer, s.OneSubscriptionPerCustomer
	}
	if s.Type.Bookable() {
		o.VariantID, o.VariantName, o.DurationMinutes, o.SessionCount = v.ID, v.Name, v.DurationMinutes, v.SessionCount
		o.DeliveryModes = s.DeliveryModes()
		o.Intake = s.Intake()
		if hours, promised := s.Metadata[FullRefundHours].(int64); promised {
			o.FullRefundHours = new(int(hours))
		}
		if v.PriceInCents != nil && (price.ID == s.PriceID || !v.IsDefault && !o.Recurring()) {
			o.Price = v.price(s.Price)
		}
	}
	return o
}

// maxOpening bounds the part of a description that an offer keeps, in characters.
const maxOpening = 600

// opening is the beginning of a description, cut at a space where it is long.
func opening(description string) string {
	runes := []rune(description)
	if len(runes) <= maxOpening {
		return description
	}
	cut := string(runes[:maxOpening])
	if i := strings.LastIndexAny(cut, " \n"); i > 0 {
		cut = cut[:i]
	}
	return cut + "…"
}
