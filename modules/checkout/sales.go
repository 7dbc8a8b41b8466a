package checkout

import (
	"cmp"
	"context"
	"strings"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/document"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/refund"
	"sundry/ports"
)

// interrupted is the reason that the buyer is shown when an attempt was undone.
var interrupted = payment.DeclineReason{
	Code: payment.ProcessingError, Message: "The payment was interrupted and nothing was charged. Try again.",
}

// superseded is the reason recorded for a bank challenge that the buyer left for another card.
var superseded = payment.DeclineReason{
	Code: payment.AuthenticationRequired, Message: "The confirmation by your bank was not completed. Try again.",
}

// SaleDeps holds the dependencies of sales.
type SaleDeps struct {
	IDs       ports.IDs
	Bookings  ports.Bookings
	Discounts ports.DiscountCodes
	Access    ports.AccessVersions
	Past      ports.PastSubscriptions
	Secrets   checkout.Secrets
	// RemembersCards is true where a card is recognized that a trial began with.
	RemembersCards bool
}

// Sales ends sessions with the outcome of their payments.
type Sales struct{ deps SaleDeps }

var _ ports.ChargeOutcomes = (*Sales)(nil)

// NewSales returns the outcomes of payments for sessions.
func NewSales(d SaleDeps) *Sales { return &Sales{d} }

// Paid implements ports.ChargeOutcomes. It makes the session paid: customer, appointments, receipt number and its
// subscribers (subscription, access), in one transaction. It refunds money that arrives for a session which another
// payment has paid, for times that were sold to somebody else, for a discount that is used up, or for a second
// subscription where the listing gives one. A second trial is not begun.
func (s *Sales) Paid(
	ctx context.Context, r ports.Repos, attempt *payment.Payment, o payment.Outcome, now time.Time,
) (ports.Followed, error) {
	paid := attempt.State()
	before, err := r.Checkout.Sessions.Get(ctx, paid.CheckoutID())
	if err != nil {
		return ports.Followed{}, err
	}
	if before.Status == checkout.StatusPaid {
		return ports.Followed{Refund: refund.PaidTwice}, nil
	}
	session := checkout.Restore(before)
	session.NoteEvidence("", o.CardCountry)
	// Before the lock of their access, as in every sale, or two first purchases at once wait for each other.
	buyer, err := r.Customers.Customers.GetOrInsert(ctx, customer.State{
		ID: s.deps.IDs.New(id.Customer), CreatorID: before.CreatorID, ExternalCustomerID: before.ExternalCustomerID,
		Email: before.Email, DisplayName: before.Buyer.Name, Details: before.Buyer, CreatedAt: now, UpdatedAt: now,
		Revision: 1,
	})
	if err != nil {
		return ports.Followed{}, err
	}
	had, err := s.hadBefore(ctx, r, before, o)
	if err != nil {
		return ports.Followed{}, err
	}
	if had {
		return s.refundAndClose(ctx, r, session, refund.AlreadySubscribed)
	}
	switch err := s.redeem(ctx, r, before); {
	case fault.Is(err, fault.LimitReached): // late money, and others have used the code up since
		return s.refundAndClose(ctx, r, session, refund.DiscountUsedUp)
	case err != nil:
		return ports.Followed{}, err
	}
	booked, ok, err := s.confirm(ctx, r, before, buyer)
	if err != nil {
		return ports.Followed{}, err
	}
	if !ok {
		return s.refundAndClose(ctx, r, session, refund.SlotUnavailable)
	}
	settlement := s.settlement(before, buyer, paid, o)
	if settlement.ReceiptNumber, err = s.allocateReceiptNumber(ctx, r, before, buyer.ID); err != nil {
		return ports.Followed{}, err
	}
	sold, err := session.Pay(settlement, now)
	if err != nil {
		return ports.Followed{}, err
	}
	if err := attempt.Document(buyer.ID, settlement.ReceiptNumber); err != nil {
		return ports.Followed{}, err
	}
	return ports.Followed{Events: append([]event.Event{sold}, booked...)}, s.close(ctx, r, session.State())
}

// subscribed reports whether the buyer has the one subscription to the listing that they may have.
func (s *Sales) subscribed(ctx context.Context, r ports.Repos, session checkout.State) (running bool, err error) {
	if !session.LimitsSubscription() {
		return false, nil
	}
	if err := s.deps.Access.LockAccess(ctx, r, session.CreatorID, session.ExternalCustomerID); err != nil {
		return false, err
	}
	_, running, err = s.deps.Past.RunningFor(ctx, r, buyerOf(session))
	return running, err
}

// hadBefore reports whether the buyer has had what the listing gives once, since the session was priced: its
// subscription or its trial.
func (s *Sales) hadBefore(
	ctx context.Context, r ports.Repos, session checkout.State, o payment.Outcome,
) (bool, error) {
	subscribed, err := s.subscribed(ctx, r, session)
	if err != nil || subscribed {
		return subscribed, err
	}
	return s.hadTrial(ctx, r, session, o)
}

// hadTrial reports whether the buyer of a session with a trial has had the one that the listing gives. Trials of one
// buyer, and of one card, wait for each other here.
func (s *Sales) hadTrial(
	ctx context.Context, r ports.Repos, session checkout.State, o payment.Outcome,
) (bool, error) {
	if !session.Offer.LimitsTrial() {
		return false, nil
	}
	buyer := buyerOf(session)
	buyer.Card = s.rememberedCard(session, o)
	for _, key := range []string{cmp.Or(buyer.ExternalCustomerID, strings.ToLower(buyer.Email)), buyer.Card} {
		if key == "" {
			continue
		}
		if err := s.deps.Access.LockAccess(ctx, r, session.CreatorID, key); err != nil {
			return false, err
		}
	}
	return s.deps.Past.HadTrial(ctx, r, buyer)
}

// rememberedCard recognizes the card that a trial begins with; "" where none does, or cards are not remembered.
func (s *Sales) rememberedCard(session checkout.State, o payment.Outcome) string {
	offer := session.Offer
	if !s.deps.RemembersCards || !offer.LimitsTrial() {
		return ""
	}
	return s.deps.Secrets.TrialCard(offer.CreatorID, offer.ListingID, o.CardFingerprint)
}

// confirm books the appointments of a sale; ok is false when a time was sold to somebody else.
func (s *Sales) confirm(
	ctx context.Context, r ports.Repos, session checkout.State, buyer customer.State,
) (booked []event.Event, ok bool, err error) {
	if !session.Offer.ForAppointments() {
		return nil, true, nil
	}
	return s.deps.Bookings.Confirm(ctx, r, ports.Confirmation{
		CreatorID: session.CreatorID, CheckoutID: session.ID,
		Buyer: appointment.Buyer{
			CustomerID: buyer.ID, ExternalCustomerID: session.ExternalCustomerID, Intake: session.Intake,
		},
		RefundPolicy: appointment.PolicyOf(session.Offer.FullRefundHours),
	})
}

// settlement returns how a session was paid, but for its receipt number.
func (s *Sales) settlement(
	session checkout.State, buyer customer.State, paid payment.State, o payment.Outcome,
) checkout.Settlement {
	settlement := checkout.Settlement{
		PaymentID: paid.ID, CustomerID: buyer.ID, Brand: paid.Brand, Last4: paid.Last4,
		TrialCard: s.rememberedCard(session, o),
	}
	if session.Offer.Recurring() {
		settlement.SubscriptionID = s.deps.IDs.New(id.Subscription)
	}
	if session.SavesCard() {
		settlement.PaymentMethodID = s.deps.IDs.New(id.PaymentMethod)
		settlement.Card = paymentmethod.Card{
			Provider: paid.Provider, Token: paid.Method, Brand: paid.Brand, Last4: paid.Last4,
			ExpMonth: o.ExpMonth, ExpYear: o.ExpYear, Country: o.CardCountry,
		}
	}
	return settlement
}

// allocateReceiptNumber takes the next receipt number. All customers of the account wait for its row, so it comes
// last: after the lock of the customer's own access.
func (s *Sales) allocateReceiptNumber(
	ctx context.Context, r ports.Repos, session checkout.State, customerID string,
) (string, error) {
	key := customer.AccessKey(session.ExternalCustomerID, customerID)
	if err := s.deps.Access.LockAccess(ctx, r, session.CreatorID, key); err != nil {
		return "", err
	}
	return ports.NextNumber(ctx, r.Invoicing.DocumentNumbers, session.CreatorID, document.Receipts)
}

// refundAndClose ends the session unpaid, and its money goes back.
func (s *Sales) refundAndClose(
	ctx context.Context, r ports.Repos, session *checkout.Session, reason string,
) (ports.Followed, error) {
	session.CloseRefunded()
	after := session.State()
	if err := s.release(ctx, r, after); err != nil {
		return ports.Followed{}, err
	}
	if err := s.releaseDiscount(ctx, r, after); err != nil {
		return ports.Followed{}, err
	}
	return ports.Followed{Refund: reason}, s.close(ctx, r, after)
}

// close saves a session that is decided: nothing is left to expire.
func (s *Sales) close(ctx context.Context, r ports.Repos, session checkout.State) error {
	if err := r.Checkout.Sessions.Update(ctx, session); err != nil {
		return err
	}
	return r.Tasks.Cancel(ctx, TaskExpire, session.ID)
}

// Unpaid implements ports.ChargeOutcomes. A challenge that the buyer left counts as a decline, so that nobody asks
// banks without end; any other attempt that was canceled counts for nothing.
func (s *Sales) Unpaid(ctx context.Context, r ports.Repos, attempt payment.State) error {
	before, err := r.Checkout.Sessions.Get(ctx, attempt.CheckoutID())
	if err != nil {
		return err
	}
	session := checkout.Restore(before)
	end, why := session.Decline, attempt.Decline
	if attempt.Status == payment.Canceled && attempt.Decline != superseded {
		end, why = session.ClearPayment, interrupted
	}
	if !end(attempt.ID, why) {
		return nil // it was no longer the live one
	}
	after := session.State()
	if err := s.releaseDiscount(ctx, r, after); err != nil {
		return err
	}
	if after.Status == checkout.StatusFailed {
		if err := s.release(ctx, r, after); err != nil {
			return err
		}
	}
	return r.Checkout.Sessions.Update(ctx, after)
}

// release frees the times that a session holds, when it will not be paid.
func (s *Sales) release(ctx context.Context, r ports.Repos, session checkout.State) error {
	if len(session.Slots) == 0 {
		return nil
	}
	return s.deps.Bookings.Release(ctx, r, session.CreatorID, session.ID)
}

// redeem counts the session's use of its discount, if it has one. LIMIT_REACHED when it is used up.
func (s *Sales) redeem(ctx context.Context, r ports.Repos, session checkout.State) error {
	if session.DiscountTerms == nil {
		return nil
	}
	return s.deps.Discounts.RedeemDiscount(ctx, r, session.CreatorID, session.DiscountTerms.DiscountID, session.ID)
}

// releaseDiscount gives the session's use of its discount up, if it has one.
func (s *Sales) releaseDiscount(ctx context.Context, r ports.Repos, session checkout.State) error {
	if session.DiscountTerms == nil {
		return nil
	}
	return s.deps.Discounts.ReleaseDiscount(ctx, r, session.CreatorID, session.ID)
}
