package payments

import (
	"context"
	"fmt"
	"time"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/locale"
	"sundry/core/paymentmethod"
	"sundry/ports"
)

// OnCheckoutPaid keeps the card that the buyer agreed to be charged with again.
func (s *Service) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	if e.PaymentMethodID == "" {
		return nil
	}
	shop, err := s.deps.Accounts.SellerName(ctx, r, e.CreatorID)
	if err != nil {
		return fmt.Errorf("save card: %w", err)
	}
	mandate := paymentmethod.Mandate{
		Text:       paymentmethod.MandateText(locale.ParseTag(e.Buyer.Locale), s.cfg.Merchant, shop),
		AcceptedAt: e.At, Source: e.CheckoutID,
	}
	return r.Payments.PaymentMethods.Insert(
		ctx, paymentmethod.New(e.PaymentMethodID, e.CreatorID, e.CustomerID, e.Card, mandate, e.At).State(),
	)
}

var _ ports.CardImporter = (*Service)(nil)

// ImportCard implements ports.CardImporter. It publishes nothing: the card pays for what is imported with it.
func (s *Service) ImportCard(
	ctx context.Context, r ports.Repos, creatorID, customerID string, card paymentmethod.Card, savedAt time.Time,
) (paymentmethod.State, error) {
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return paymentmethod.State{}, err
	}
	saved := paymentmethod.New(s.deps.IDs.New(id.PaymentMethod), creatorID, customerID, card, paymentmethod.Mandate{
		Text: paymentmethod.ImportedMandate, AcceptedAt: savedAt, Source: card.Token,
	}, now).State()
	return saved, r.Payments.PaymentMethods.Insert(ctx, saved)
}

// mandate returns what a customer was shown, or the English text where they were shown none.
func mandate(
	ctx context.Context, r ports.Repos, accounts ports.AccountReader, merchant, creatorID, shown string,
) (string, error) {
	if shown != "" {
		return shown, nil
	}
	shop, err := accounts.SellerName(ctx, r, creatorID)
	return paymentmethod.MandateText(locale.Locale{}, merchant, shop), err
}

var _ ports.SavedCards = (*Service)(nil)

// SavedCard implements ports.SavedCards.
func (s *Service) SavedCard(
	ctx context.Context, r ports.Repos, customerID, cardID string,
) (paymentmethod.State, error) {
	usable, err := r.Payments.PaymentMethods.List(ctx, customerID)
	if err != nil {
		return paymentmethod.State{}, err
	}
	for _, card := range usable {
		if cardID == "" || card.ID == cardID {
			return card, nil
		}
	}
	if cardID == "" {
		return paymentmethod.State{}, fault.New(fault.PaymentMethodRequired, "The customer has no saved card.")
	}
	return paymentmethod.State{}, fault.New(fault.PaymentMethodRequired, "The customer has no saved card with this id.")
}

// Cards returns a customer's usable cards, first the one that pays: the one saved or chosen last.
func (s *Service) Cards(ctx context.Context, customerID string) ([]paymentmethod.State, error) {
	return s.deps.Store.Read(ctx).Payments.PaymentMethods.List(ctx, customerID)
}

// ChooseCard makes one of a customer's cards the one that pays from now on. NOT_FOUND for any other card.
func (s *Service) ChooseCard(ctx context.Context, creatorID, customerID, cardID string) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		card, now, err := ownCard(ctx, r, creatorID, customerID, cardID)
		if err != nil {
			return err
		}
		if err := card.Choose(now); err != nil {
			return err
		}
		if err := r.Payments.PaymentMethods.Update(ctx, card.State()); err != nil {
			return err
		}
		return s.deps.Bus.Publish(ctx, r, paymentmethod.Chosen{State: card.State(), At: now})
	})
}

// ownCard loads a card of a customer of the account, with the account's time. NOT_FOUND for any other.
func ownCard(
	ctx context.Context, r ports.Repos, creatorID, customerID, cardID string,
) (*paymentmethod.Method, time.Time, error) {
	state, err := r.Payments.PaymentMethods.Get(ctx, cardID)
	own := state.CreatorID == creatorID && state.CustomerID == customerID
	if state, err = ports.Visible(state, err, own, "payment method"); err != nil {
		return nil, time.Time{}, err
	}
	now, err := r.Clock.Now(ctx, creatorID)
	return paymentmethod.Restore(state), now, err
}

// RemoveCard takes a customer's card out of use. NOT_FOUND for any other card. No other card of theirs is removed
// meanwhile: it would be the one that pays next.
func (s *Service) RemoveCard(ctx context.Context, creatorID, customerID, cardID string) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Payments.PaymentMethods.Lock(ctx, customerID); err != nil {
			return err
		}
		card, now, err := ownCard(ctx, r, creatorID, customerID, cardID)
		if err != nil {
			return err
		}
		if err := card.Remove(now); err != nil {
			return err
		}
		if err := r.Payments.PaymentMethods.Update(ctx, card.State()); err != nil {
			return err
		}
		left, err := r.Payments.PaymentMethods.List(ctx, customerID)
		if err != nil {
			return err
		}
		removed := paymentmethod.Removed{State: card.State()}
		if len(left) > 0 {
			removed.Next = left[0].ID
		}
		return s.deps.Bus.Publish(ctx, r, removed)
	})
}
