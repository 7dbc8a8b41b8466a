package notify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sundry/core/access"
	"sundry/core/checkout"
	"sundry/core/event"
	"sundry/core/subscription"
	"sundry/core/wire"
	"sundry/ports"
)

// announceEvery is how often, at most, one customer's changes are announced (contract §8).
const announceEvery = 2 * time.Second

// PaymentCompleted is the data of payment.completed (contract §12).
type PaymentCompleted struct {
	PaymentID          string            `json:"paymentId"`
	CheckoutID         string            `json:"checkoutId"`
	ReceiptNumber      string            `json:"receiptNumber"`
	CustomerID         string            `json:"customerId"`
	ExternalCustomerID *string           `json:"externalCustomerId"`
	ListingID          string            `json:"listingId"`
	Plan               string            `json:"plan"`
	Interval           *string           `json:"interval"`
	SubscriptionID     *string           `json:"subscriptionId"`
	SubtotalInCents    int64             `json:"subtotalInCents"`
	DiscountInCents    int64             `json:"discountInCents"`
	TaxInCents         int64             `json:"taxInCents"`
	TotalInCents       int64             `json:"totalInCents"`
	Currency           string            `json:"currency"`
	PaidAt             *string           `json:"paidAt"`
	ReferenceID        *string           `json:"referenceId"`
	UTM                map[string]string `json:"utm"`
	Metadata           map[string]string `json:"metadata"`
}

// OnCheckoutPaid emits payment.completed and mails the receipt.
func (s *Service) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	if err := s.mailReceipt(ctx, r, e); err != nil {
		return err
	}
	return s.emit(ctx, r, e.CreatorID, event.PaymentCompleted, PaymentCompleted{
		PaymentID: e.PaymentID, CheckoutID: e.CheckoutID, ReceiptNumber: e.ReceiptNumber, CustomerID: e.CustomerID,
		ExternalCustomerID: wire.Text(e.ExternalCustomerID), ListingID: e.Offer.ListingID, Plan: e.Offer.PlanKey,
		Interval: wire.Text(string(e.Offer.Interval)), SubscriptionID: wire.Text(e.SubscriptionID), SubtotalInCents: e.Subtotal.Minor,
		DiscountInCents: e.Discount.Minor, TaxInCents: e.Tax.Minor, TotalInCents: e.Total.Minor, Currency: string(e.Total.Currency),
		PaidAt: wire.Time(e.At), ReferenceID: wire.Text(e.ReferenceID), UTM: orEmpty(e.UTM), Metadata: orEmpty(e.Metadata),
	})
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// Subscription is the data of subscription.* events.
type Subscription struct {
	ID                 string  `json:"id"`
	Status             string  `json:"status"`
	CheckoutID         string  `json:"checkoutId"`
	CustomerID         string  `json:"customerId"`
	ExternalCustomerID *string `json:"externalCustomerId"`
	ListingID          string  `json:"listingId"`
	ListingKey         string  `json:"listingKey"`
	Plan               string  `json:"plan"`
	PriceID            string  `json:"priceId"`
	Interval           string  `json:"interval"`
	IntervalCount      int     `json:"intervalCount"`
	AmountInCents      int64   `json:"amountInCents"`
	Currency           string  `json:"currency"`
	StartedAt          *string `json:"startedAt"`
	CurrentPeriodStart *string `json:"currentPeriodStart"`
	CurrentPeriodEnd   *string `json:"currentPeriodEnd"`
	TrialEndsAt        *string `json:"trialEndsAt"`
	EndedAt            *string `json:"endedAt"`
}

func subscriptionData(s subscription.State) Subscription {
	return Subscription{
		ID: s.ID, Status: string(s.Status), CheckoutID: s.CheckoutID, CustomerID: s.CustomerID, ExternalCustomerID: wire.Text(s.ExternalCustomerID),
		ListingID: s.Offer.ListingID, ListingKey: s.Offer.ListingKey, Plan: s.Offer.PlanKey, PriceID: s.Offer.PriceID,
		Interval: string(s.Offer.Interval), IntervalCount: s.Offer.IntervalCount, AmountInCents: s.Offer.Price.Minor,
		Currency: string(s.Offer.Price.Currency), StartedAt: wire.Time(s.StartedAt), CurrentPeriodStart: wire.Time(s.CurrentPeriodStart),
		CurrentPeriodEnd: wire.Time(s.CurrentPeriodEnd), TrialEndsAt: wire.Time(s.TrialEndsAt), EndedAt: wire.Time(s.EndedAt),
	}
}

// OnSubscriptionStarted emits subscription.created.
func (s *Service) OnSubscriptionStarted(ctx context.Context, r ports.Repos, e subscription.Started) error {
	return s.emit(ctx, r, e.CreatorID, event.SubscriptionCreated, subscriptionData(e.State))
}

// OnSubscriptionEnded emits subscription.expired: the system ended it.
func (s *Service) OnSubscriptionEnded(ctx context.Context, r ports.Repos, e subscription.Ended) error {
	return s.emit(ctx, r, e.CreatorID, event.SubscriptionExpired, subscriptionData(e.State))
}

// OnAccessChanged makes an announcement due: at once, or two seconds after the one before. Scheduling again merges, and
// fences an announcement under way, so that the latest version is always told last.
func (s *Service) OnAccessChanged(ctx context.Context, r ports.Repos, e access.Changed) error {
	last, err := r.Announcements.Last(ctx, e.CreatorID, e.ExternalCustomerID)
	if err != nil {
		return err
	}
	due := e.At
	if next := last.At.Add(announceEvery); next.After(due) {
		due = next
	}
	return r.Tasks.Schedule(ctx, TaskAnnounce, e.CreatorID+"/"+e.ExternalCustomerID, e.CreatorID, due)
}

// AccessChanged is the thin data of customer.access_changed: the receiver reads the snapshot.
type AccessChanged struct {
	ExternalCustomerID string   `json:"externalCustomerId"`
	Version            int64    `json:"version"`
	PreviousVersion    int64    `json:"previousVersion"`
	Changed            []string `json:"changed"`
}

// Announce emits customer.access_changed with everything that changed since the last one. Task TaskAnnounce.
func (s *Service) Announce(ctx context.Context, t ports.Task) error {
	creatorID, customer, ok := strings.Cut(t.Subject, "/")
	if !ok {
		return fmt.Errorf("announce: %q names no customer", t.Subject)
	}
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		last, err := r.Announcements.Last(ctx, creatorID, customer)
		if err != nil {
			return err
		}
		current, changed, err := s.history.ChangedSince(ctx, r, creatorID, customer, last.Version)
		if err != nil || current <= last.Version {
			return err
		}
		now, err := s.clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		if err := r.Announcements.Set(ctx, creatorID, customer, ports.Announcement{Version: current, At: now}); err != nil {
			return err
		}
		return s.emit(ctx, r, creatorID, event.CustomerAccessChanged, AccessChanged{
			ExternalCustomerID: customer, Version: current, PreviousVersion: last.Version, Changed: changed,
		})
	})
}
