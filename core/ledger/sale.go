package ledger

import (
	"fmt"
	"time"

	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/core/money"
)

// HoldPeriod is the time for which a creator's share of a sale stays pending.
const HoldPeriod = 7 * 24 * time.Hour

// SaleState is the state of the money of one payment, as stores and views see it. All amounts share one currency.
type SaleState struct {
	PaymentID string
	CreatorID string
	Total     money.Amount // what the buyer paid
	Tax       money.Amount // of it, the tax
	// PlatformFee is kept when the sale is refunded.
	PlatformFee  money.Amount
	ProcessorFee money.Amount
	// Pending is the sale's amount on CreatorPending; zero once released. It is negative when refunds took more than was
	// left after the fee.
	Pending money.Amount
	// Returned is the amount that has gone back to the buyer or is on its way: by refunds, those under way included, and
	// disputes, open ones included. ReturnedTax is the tax in it.
	Returned    money.Amount
	ReturnedTax money.Amount
	// Refunded is the amount of all completed refunds.
	Refunded money.Amount
	// Lost is the amount of lost disputes.
	Lost money.Amount
	// DisputeID is the open dispute ("" = none), Disputed what it holds.
	DisputeID string
	Disputed  Share
	// AvailableAt is the time at which the creator's share is released.
	AvailableAt time.Time
	Released    bool
	CreatedAt   time.Time
	Revision    int64
}

// Share is a part of a sale that goes back, with the tax in it.
type Share struct {
	Amount money.Amount
	Tax    money.Amount
}

// Return names the payment whose money goes back, or may, by a refund or a dispute.
type Return struct {
	PaymentID  string
	CheckoutID string // "" for a payment outside a checkout
	CustomerID string
	// SubscriptionID names the subscription that a payment outside a checkout renewed; "" for any other payment.
	SubscriptionID string
	Share          Share
}

// Purchase returns the checkout session that the payment has paid for. It is empty for a second payment of a session,
// which bought nothing and has no customer, and for a payment outside a checkout.
func (r Return) Purchase() string {
	if r.CustomerID == "" {
		return ""
	}
	return r.CheckoutID
}

// net returns the part of the share that the creator bears.
func (s Share) net() money.Amount {
	return money.Amount{Minor: s.Amount.Minor - s.Tax.Minor, Currency: s.Amount.Currency}
}

// Sale is the aggregate. Its transitions return the posting that records them.
type Sale struct{ s SaleState }

// Receipt is the money of a succeeded payment.
type Receipt struct {
	PaymentID, CreatorID string
	Total, Tax           money.Amount
	// PlatformFee is at most Total - Tax.
	PlatformFee  money.Amount
	ProcessorFee money.Amount
}

// NewSale records a succeeded payment. The second posting is empty when the processor's fee is not known or zero.
func NewSale(r Receipt, now time.Time) (*Sale, []Posting, error) {
	zero := money.Amount{Currency: r.Total.Currency}
	pending := money.Amount{Minor: r.Total.Minor - r.Tax.Minor - r.PlatformFee.Minor, Currency: r.Total.Currency}
	if r.Total.Minor < 0 || r.Tax.Minor < 0 || r.PlatformFee.Minor < 0 || pending.Minor < 0 {
		return nil, nil, fmt.Errorf("ledger: sale %s of %d with tax %d and fee %d", r.PaymentID, r.Total.Minor, r.Tax.Minor,
			r.PlatformFee.Minor)
	}
	sale := &Sale{SaleState{
		PaymentID: r.PaymentID, CreatorID: r.CreatorID, Total: r.Total, Tax: r.Tax, PlatformFee: r.PlatformFee,
		ProcessorFee: r.ProcessorFee, Pending: pending, Returned: zero, ReturnedTax: zero, Refunded: zero, Lost: zero,
		Disputed: Share{zero, zero}, AvailableAt: now.Add(HoldPeriod), CreatedAt: now, Revision: 1,
	}}
	return sale, []Posting{
		NewPosting(SourcePayment, r.PaymentID, KindSale,
			Debit(ProcessorClearing, r.Total), Credit(TaxPayable, r.Tax), Credit(PlatformFee, r.PlatformFee),
			Credit(CreatorPending, pending)),
		NewPosting(SourcePayment, r.PaymentID, KindProcessorFee,
			Debit(ProcessorFee, r.ProcessorFee), Credit(ProcessorClearing, r.ProcessorFee)),
	}, nil
}

// RestoreSale rebuilds a sale from its stored state.
func RestoreSale(s SaleState) *Sale { return &Sale{s} }

// State returns a copy of the data.
func (s *Sale) State() SaleState { return s.s }

// Refundable returns the amount that can still go back to the buyer.
func (s SaleState) Refundable() money.Amount {
	return money.Amount{Minor: s.Total.Minor - s.Returned.Minor, Currency: s.Total.Currency}
}

// ReturnedInFull reports whether completed refunds and lost disputes have left nothing of the sale.
func (s SaleState) ReturnedInFull() bool { return s.Refunded.Minor+s.Lost.Minor == s.Total.Minor }

// Release makes the creator's share available. The posting is empty when nothing is pending or it was released before.
func (s *Sale) Release(now time.Time) (Posting, error) {
	if s.s.Released {
		return Posting{}, nil
	}
	if now.Before(s.s.AvailableAt) {
		return Posting{}, fmt.Errorf("ledger: sale %s is pending until %s", s.s.PaymentID,
			s.s.AvailableAt.Format(time.RFC3339))
	}
	posting := NewPosting(SourcePayment, s.s.PaymentID, KindRelease, Debit(CreatorPending, s.s.Pending),
		Credit(CreatorAvailable, s.s.Pending))
	s.s.Released, s.s.Pending.Minor = true, 0
	s.s.Revision++
	return posting, nil
}

// Reverse undoes a sale whose goods could not be given, the platform's fee with it: share is all that refunds and
// lost disputes have left of it. The posting is empty when nothing is left to return.
func (s *Sale) Reverse(share Share) (Posting, error) {
	left := s.s.Refundable()
	if left.Minor == 0 {
		return Posting{}, nil
	}
	underWay := s.s.Returned.Minor - s.s.Refunded.Minor - s.s.Lost.Minor
	if underWay != 0 || share.Amount != left || share.Tax.Minor != s.s.Tax.Minor-s.s.ReturnedTax.Minor {
		return Posting{}, fmt.Errorf("ledger: sale %s is not reversed by %+v, %+v has gone back or is on its way",
			s.s.PaymentID, share, s.s.Returned)
	}
	s.take(share)
	s.s.Refunded.Minor += share.Amount.Minor
	creator := share.net()
	creator.Minor -= s.s.PlatformFee.Minor
	return NewPosting(SourcePayment, s.s.PaymentID, KindReversal, Debit(TaxPayable, share.Tax),
		Debit(PlatformFee, s.s.PlatformFee),
		s.debitCreator(creator), Credit(ProcessorClearing, share.Amount)), nil
}

// ReserveRefund sets an amount aside for a refund that is about to be asked of the processor, so that no other refund
// and no dispute takes it too. The tax in it is apportioned cumulatively: the shares of any split sum to exactly the
// tax charged. The fault is NOT_REFUNDABLE.
func (s *Sale) ReserveRefund(amount money.Amount) (Share, error) {
	if s.s.DisputeID != "" {
		return Share{}, fault.New(fault.NotRefundable, "The payment is disputed. It can't be refunded until the dispute is "+
			"closed.")
	}
	return s.RecordRefund(amount)
}

// RecordRefund is ReserveRefund of a refund that the processor has made already, before it was known that the payment
// is disputed.
func (s *Sale) RecordRefund(amount money.Amount) (Share, error) {
	switch left := s.s.Refundable(); {
	case left.Minor == 0:
		return Share{}, fault.New(fault.NotRefundable, "The payment is already refunded in full.")
	case amount.Currency != left.Currency || amount.Minor <= 0:
		return Share{}, fmt.Errorf("ledger: refund of %d %s from sale %s", amount.Minor, amount.Currency, s.s.PaymentID)
	case amount.Minor > left.Minor:
		return Share{}, fault.Newf(fault.NotRefundable, "At most %s of the payment can still be refunded.",
			locale.Default.Money(left))
	}
	return s.reserve(amount)
}

// reserve counts an amount as returned, with its part of the tax.
func (s *Sale) reserve(amount money.Amount) (Share, error) {
	share, err := s.apportion(amount)
	if err != nil {
		return Share{}, err
	}
	s.take(share)
	return share, nil
}

// take counts a share as returned.
func (s *Sale) take(share Share) {
	s.s.Returned.Minor += share.Amount.Minor
	s.s.ReturnedTax.Minor += share.Tax.Minor
	s.s.Revision++
}

// apportion is the tax in the next amount that goes back: the tax on all that will have gone back by then, less what
// was counted before. After shares that were given up out of order this can be less than nothing or more than the
// amount, so it is kept between the two: never is more tax left than money, and the last amount takes all the tax that
// is left.
func (s *Sale) apportion(amount money.Amount) (Share, error) {
	share := Share{Amount: amount, Tax: money.Amount{Currency: amount.Currency}}
	if s.s.Total.Minor == 0 {
		return share, nil
	}
	target, err := s.s.Tax.RatioHalfUp(s.s.Returned.Minor+amount.Minor, s.s.Total.Minor)
	if err != nil {
		return Share{}, fmt.Errorf("apportion tax of %s: %w", s.s.PaymentID, err)
	}
	share.Tax.Minor = min(max(target.Minor-s.s.ReturnedTax.Minor, 0), amount.Minor)
	return share, nil
}

// giveUp takes a reserved share back.
func (s *Sale) giveUp(share Share) {
	s.s.Returned.Minor -= share.Amount.Minor
	s.s.ReturnedTax.Minor -= share.Tax.Minor
	s.s.Revision++
}

// AbandonRefund gives up a reserved refund that the processor refused.
func (s *Sale) AbandonRefund(share Share) { s.giveUp(share) }

// CompleteRefund records a reserved refund that the processor made.
func (s *Sale) CompleteRefund(refundID string, share Share) Posting {
	s.s.Refunded.Minor += share.Amount.Minor
	s.s.Revision++
	return NewPosting(SourceRefund, refundID, KindRefund,
		Debit(TaxPayable, share.Tax), s.debitCreator(share.net()), Credit(ProcessorClearing, share.Amount))
}

// ReverseRefund records that a refund which the processor had made came back, such as from a closed account.
func (s *Sale) ReverseRefund(refundID string, share Share) Posting {
	s.s.Refunded.Minor -= share.Amount.Minor
	s.giveUp(share)
	return NewPosting(SourceRefund, refundID, KindRefundFailed,
		Debit(ProcessorClearing, share.Amount), Credit(TaxPayable, share.Tax), s.creditCreator(share.net()))
}

// ReturnReversal records that the money of a reversed sale came back. The creator keeps the platform's fee, because
// they have to return all of the money in another way.
func (s *Sale) ReturnReversal(share Share) Posting {
	p := s.ReverseRefund(s.s.PaymentID, share)
	p.SourceType = SourcePayment
	return p
}

// OpenDispute holds what a dispute claims, at most what has not gone back otherwise: a refund and a dispute never take
// the same money. The fault is STATE_CONFLICT while another dispute is open.
func (s *Sale) OpenDispute(disputeID string, claimed money.Amount) (Share, Posting, error) {
	if s.s.DisputeID != "" {
		return Share{}, Posting{}, fault.New(fault.StateConflict, "Another dispute of this payment is open.")
	}
	held := s.s.Refundable()
	if claimed.Currency == held.Currency {
		held.Minor = min(claimed.Minor, held.Minor)
	}
	share, err := s.reserve(held)
	if err != nil {
		return Share{}, Posting{}, err
	}
	s.s.DisputeID, s.s.Disputed = disputeID, share
	return share, NewPosting(SourceDispute, disputeID, KindDisputeOpened,
		Debit(DisputedFunds, share.Amount), Credit(ProcessorClearing, share.Amount),
		s.debitCreator(share.net()), Credit(CreatorReserved, share.net())), nil
}

// WinDispute gives the held money back to the creator.
func (s *Sale) WinDispute() (Posting, error) {
	disputeID, share, err := s.closeDispute()
	if err != nil {
		return Posting{}, err
	}
	s.giveUp(share)
	return NewPosting(SourceDispute, disputeID, KindDisputeWon,
		Debit(ProcessorClearing, share.Amount), Credit(DisputedFunds, share.Amount),
		Debit(CreatorReserved, share.net()), s.creditCreator(share.net())), nil
}

// LoseDispute takes the held money from the creator, and the tax in it from what is owed. Of a claim for which less was
// held, because a refund was under way that failed or came back meanwhile, it takes the rest, too. lost is all of it.
func (s *Sale) LoseDispute(claimed money.Amount) (lost Share, posting Posting, err error) {
	disputeID, share, err := s.closeDispute()
	if err != nil {
		return Share{}, Posting{}, err
	}
	rest := money.Amount{Currency: share.Amount.Currency}
	if claimed.Currency == rest.Currency {
		rest.Minor = max(0, min(claimed.Minor-share.Amount.Minor, s.s.Refundable().Minor))
	}
	more, err := s.reserve(rest)
	if err != nil {
		return Share{}, Posting{}, err
	}
	lost = share
	lost.Amount.Minor += more.Amount.Minor
	lost.Tax.Minor += more.Tax.Minor
	s.s.Lost.Minor += lost.Amount.Minor
	return lost, NewPosting(SourceDispute, disputeID, KindDisputeLost,
		Debit(CreatorReserved, share.net()), s.debitCreator(more.net()), Debit(TaxPayable, lost.Tax),
		Credit(DisputedFunds, share.Amount), Credit(ProcessorClearing, more.Amount)), nil
}

func (s *Sale) closeDispute() (string, Share, error) {
	if s.s.DisputeID == "" {
		return "", Share{}, fmt.Errorf("ledger: sale %s has no open dispute", s.s.PaymentID)
	}
	disputeID, share := s.s.DisputeID, s.s.Disputed
	zero := money.Amount{Currency: share.Amount.Currency}
	s.s.DisputeID, s.s.Disputed = "", Share{zero, zero}
	return disputeID, share, nil
}

// debitCreator takes from the creator's share: from what is pending while the sale is.
func (s *Sale) debitCreator(amount money.Amount) Leg {
	if s.s.Released {
		return Debit(CreatorAvailable, amount)
	}
	s.s.Pending.Minor -= amount.Minor
	return Debit(CreatorPending, amount)
}

func (s *Sale) creditCreator(amount money.Amount) Leg {
	if s.s.Released {
		return Credit(CreatorAvailable, amount)
	}
	s.s.Pending.Minor += amount.Minor
	return Credit(CreatorPending, amount)
}
