package bootstrap

import (
	"context"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"

	"sundry/adapters/cli"
	"sundry/config"
	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/listing"
	"sundry/core/paymentlink"
	"sundry/core/plan"
	"sundry/core/slot"
	"sundry/core/usage"
)

const demoEmail = "demo@sundry.example"

// SeedIfEmpty makes the demo creator in an empty sandbox database; nil when there is anybody already, or when another
// process makes the same creator. cli.ErrDemoElsewhere.
func (a *App) SeedIfEmpty(ctx context.Context) (*cli.Demo, error) {
	if a.cfg.Environment != config.Sandbox {
		return nil, fmt.Errorf("the demo creator exists in the sandbox only")
	}
	creators := a.store.Read(ctx).Identity.Creators
	if taken, err := creators.Exists(ctx); err != nil || taken {
		return nil, err
	}
	demo, err := a.seed(ctx)
	if fault.Is(err, fault.EmailTaken) {
		taken, err := creators.Exists(ctx)
		if err == nil && !taken {
			err = cli.ErrDemoElsewhere
		}
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	return demo, nil
}

func (a *App) seed(ctx context.Context) (*cli.Demo, error) {
	demo := &cli.Demo{Email: demoEmail, Password: strings.ToLower(base32.StdEncoding.EncodeToString(a.ids.Random(15)))}
	signedIn, err := a.modules.Identity.SignUpDemo(ctx, identity.Registration{Email: demo.Email, Password: demo.Password,
		DisplayName: "Ada's Workshop"})
	if err != nil {
		return nil, err
	}
	creatorID := signedIn.Creator.ID
	if _, demo.SecretKey, err = a.modules.Identity.CreateKey(ctx, signedIn.User,
		identity.NewKeyRequest{Name: "Demo key"}); err != nil {
		return nil, err
	}
	for _, l := range demoListings {
		created, err := a.modules.Catalog.CreateListing(ctx, creatorID, l.proposal)
		if err != nil {
			return nil, err
		}
		for _, draft := range l.plans {
			if _, err := a.modules.Catalog.PutPlan(ctx, creatorID, created.ID, draft); err != nil {
				return nil, err
			}
		}
		if _, err := a.modules.Catalog.Publish(ctx, creatorID, created.ID); err != nil {
			return nil, err
		}
		if !l.linked {
			continue
		}
		link, err := a.modules.Catalog.CreateLink(ctx, creatorID, paymentlink.Edit{ListingID: &created.ID})
		if err != nil {
			return nil, err
		}
		demo.PaymentLink = a.cfg.BaseURL + "/l/" + link.Code
	}
	if err := a.seedMeter(ctx, creatorID); err != nil {
		return nil, err
	}
	return demo, a.seedSchedule(ctx, creatorID)
}

// seedMeter makes a meter with a price, so that a billing plan can be attached to the first subscription.
func (a *App) seedMeter(ctx context.Context, creatorID string) error {
	if _, err := a.modules.Usage.CreateMeter(ctx, creatorID, usage.MeterDraft{Name: "API calls", EventName: "api.calls",
		Aggregation: string(usage.Sum)}); err != nil {
		return err
	}
	product, err := a.modules.Usage.CreateProduct(ctx, creatorID, usage.ProductDraft{Name: "API access", Type: "SERVICE"})
	if err != nil {
		return err
	}
	included, free, perCall := json.Number("1000"), "0", "0.35"
	_, err = a.modules.Usage.CreatePrice(ctx, creatorID, usage.PriceDraft{
		ProductID: product.ID, BillingScheme: "usage_based", Currency: "eur",
		Recurring: &usage.RecurringDraft{Interval: "month"},
		Tiers:     []usage.TierDraft{{UpTo: &included, UnitAmountDecimal: &free}, {UnitAmountDecimal: &perCall}},
	})
	return err
}

// seedSchedule sets when and where the demo creator meets buyers, so that the appointment listing can be booked.
func (a *App) seedSchedule(ctx context.Context, creatorID string) error {
	hours := slot.Settings{Timezone: "Europe/Dublin"}.Clean()
	for _, weekday := range []string{"monday", "tuesday", "wednesday", "thursday", "friday"} {
		for _, h := range []slot.Hours{{Start: "09:00", End: "12:30"}, {Start: "13:30", End: "17:00"}} {
			hours.Weekly = append(hours.Weekly, slot.WeeklyHours{Weekday: weekday, Hours: h})
		}
	}
	if err := a.modules.Booking.SetHours(ctx, creatorID, hours); err != nil {
		return err
	}
	return a.modules.Booking.SetMeetings(ctx, creatorID,
		appointment.MeetingSettings{Virtual: &appointment.VirtualMeeting{Provider: appointment.Jitsi}})
}

type demoListing struct {
	proposal listing.Proposal
	plans    []plan.Draft
	linked   bool
}

func proposal(kind, slug, title, description string, priceInCents int64, metadata map[string]any) listing.Proposal {
	currency := "eur"
	return listing.Proposal{Type: kind, Edit: listing.Edit{
		Title: &title, Description: &description, Slug: &slug, PriceInCents: &priceInCents, Currency: &currency,
		Metadata: metadata,
	}}
}

func price(interval string, amountInCents int64) plan.PriceDraft {
	one := 1
	return plan.PriceDraft{Interval: &interval, IntervalCount: &one, Currency: "eur", AmountInCents: &amountInCents}
}

// demoListings is one listing of each type.
var demoListings = []demoListing{
	{
		proposal: proposal("DIGITAL", "field-guide", "The Field Guide to Small Shops", "A hundred pages on selling what "+
			"you make.", 2900,
			map[string]any{"downloadUrl": "https://example.com/field-guide.pdf", "fileFormat": "pdf"}),
		linked: true,
	},
	{
		proposal: proposal("SERVICE", "shop-review", "A review of your shop", "I read your shop front to back and write "+
			"down what I would change.", 14900,
			map[string]any{}),
	},
	{
		proposal: proposal("SUBSCRIPTION", "workshop-club", "Workshop Club", "New patterns and a live session every month.",
			1200,
			map[string]any{"interval": "month"}),
		plans: []plan.Draft{
			{Key: "member", Name: "Member", IsDefault: true, Prices: []plan.PriceDraft{price("month", 1200),
				price("year", 12000)},
				Entitlements: []plan.EntitlementDraft{{Key: "patterns", Type: "boolean", Value: true}},
				Credits:      []plan.Credit{{Key: "downloads", Unit: "files", Amount: 10, Renews: true}}},
			{Key: "maker", Name: "Maker", TrialDays: 14, Prices: []plan.PriceDraft{price("month", 2900)},
				Entitlements: []plan.EntitlementDraft{{Key: "patterns", Type: "boolean", Value: true},
					{Key: "live_sessions", Type: "boolean", Value: true}},
				Credits: []plan.Credit{{Key: "downloads", Unit: "files", Amount: 50, Renews: true}}},
		},
	},
	{
		proposal: proposal("APPOINTMENT", "one-hour", "One hour with me", "Bring one question about your shop.", 9000,
			map[string]any{"deliveryMethod": "virtual"}),
	},
}
