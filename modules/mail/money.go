package mail

import (
	"cmp"
	"context"
	"slices"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/dispute"
	"sundry/core/listingtype"
	"sundry/core/locale"
	"sundry/core/payment"
	"sundry/core/payout"
	"sundry/core/refund"
	"sundry/modules/mail/mailtemplate"
	"sundry/ports"
)

func (s *Service) aboutMoney() []ports.Subscription {
	return []ports.Subscription{
		ports.On(s.OnRefundCreated), ports.On(s.OnRefundFailed), ports.On(s.OnPaymentReversed), ports.On(s.OnDisputeOpened),
		ports.On(s.OnPayoutPaid), ports.On(s.OnPayoutFailed),
	}
}

// OnRefundCreated notifies the buyer of money on its way back, if their address is known. The mail about a canceled
// appointment has told them already.
func (s *Service) OnRefundCreated(ctx context.Context, r ports.Repos, e refund.Created) error {
	if canceled, err := s.ofCancellation(ctx, r, e.State); err != nil || canceled {
		return err
	}
	to, err := s.payer(ctx, r, e.CheckoutID, e.CustomerID)
	if err != nil {
		return err
	}
	mails, err := s.refundMail(ctx, r, e.CreatorID, to, mailtemplate.KindRefund, mailtemplate.Refund{
		SubjectID: e.ID, Item: itemFor(to, e.Item), Amount: e.Share.Amount, HasCreditNote: e.CreditNoteNumber != "",
		CreditNote: e.CreditNoteNumber, At: e.SettledAt,
	})
	if err != nil {
		return err
	}
	return s.enqueue(ctx, r, mails...)
}

// OnRefundFailed notifies the creator of a refund that did not reach the buyer, and the buyer if they have been told of
// it.
func (s *Service) OnRefundFailed(ctx context.Context, r ports.Repos, e refund.Failure) error {
	mail, err := s.toCreator(ctx, r, e.CreatorID, mailtemplate.KindCreatorRefundFailed, e.ID, mailtemplate.RefundFailure{
		PaymentID: e.PaymentID, Item: e.Item.Description, Amount: e.Share.Amount, Reason: cmp.Or(e.FailureReason, "unknown"),
		At: e.SettledAt,
	})
	if err != nil {
		return err
	}
	mails := []draft{mail}
	told, err := s.ofCancellation(ctx, r, e.State)
	if err != nil {
		return err
	}
	if told || e.CameBack {
		to, err := s.payer(ctx, r, e.CheckoutID, e.CustomerID)
		if err != nil {
			return err
		}
		toBuyer, err := s.refundMail(ctx, r, e.CreatorID, to, mailtemplate.KindRefundFailed, mailtemplate.Refund{
			SubjectID: e.ID, Item: itemFor(to, e.Item), Amount: e.Share.Amount, At: e.SettledAt,
		})
		if err != nil {
			return err
		}
		mails = append(mails, toBuyer...)
	}
	return s.enqueue(ctx, r, mails...)
}

// ofCancellation reports whether canceling an appointment made a refund.
func (s *Service) ofCancellation(ctx context.Context, r ports.Repos, f refund.State) (bool, error) {
	if f.Reason != refund.AppointmentCanceled || f.CheckoutID == "" {
		return false, nil
	}
	booked, err := s.deps.Bookings.Booked(ctx, r, f.CreatorID, f.CheckoutID)
	return slices.ContainsFunc(booked, func(a appointment.State) bool { return a.RefundID == f.ID }), err
}

// OnPaymentReversed notifies the buyer that they get everything back, because what they paid for could not be given.
func (s *Service) OnPaymentReversed(ctx context.Context, r ports.Repos, e payment.Reversed) error {
	if e.Amount.Minor == 0 {
		return nil
	}
	to, err := s.payer(ctx, r, e.CheckoutID(), e.CustomerID)
	if err != nil {
		return err
	}
	now, err := r.Clock.Now(ctx, e.CreatorID)
	if err != nil {
		return err
	}
	mails, err := s.refundMail(ctx, r, e.CreatorID, to, mailtemplate.KindRefund, mailtemplate.Refund{
		SubjectID: e.ID, Item: itemFor(to, e.Sale.Item()), Amount: e.Share.Amount,
		HasCreditNote: e.CreditNoteNumber != "", CreditNote: e.CreditNoteNumber, At: now,
	})
	if err != nil {
		return err
	}
	return s.enqueue(ctx, r, mails...)
}

// payer returns who paid: the buyer of a session, or the customer of any other payment.
func (s *Service) payer(ctx context.Context, r ports.Repos, checkoutID, customerID string) (ports.Addressee, error) {
	if checkoutID != "" {
		return s.deps.Buyers.Buyer(ctx, r, checkoutID)
	}
	if customerID == "" {
		return ports.Addressee{}, nil
	}
	c, err := s.deps.Customers.Customer(ctx, r, customerID)
	return ports.Addressee{Address: c.Email, Name: c.DisplayName, Locale: c.Details.Locale}, err
}

// itemFor names what was paid for in the language of who paid.
func itemFor(to ports.Addressee, item payment.Line) string {
	return item.Text(locale.ParseTag(to.Locale))
}

// refundMail returns a mail about a refund to the buyer; none without their address.
func (s *Service) refundMail(
	ctx context.Context, r ports.Repos, creatorID string, to ports.Addressee, kind mailtemplate.Kind,
	data mailtemplate.Refund,
) ([]draft, error) {
	if to.Address == "" {
		return nil, nil
	}
	var err error
	if data.ReplyTo, data.Look, err = s.seller(ctx, r, creatorID); err != nil {
		return nil, err
	}
	data.Seller, data.Locale = data.ReplyTo.Name, to.Locale
	mail := newDraft(creatorID, kind, data.SubjectID, recipient{to.Address, to.Name}, data)
	return []draft{mail}, nil
}

// orderMail notifies the creator of a sale, unless they want no such mails. Booked appointments have a mail of their
// own.
func (s *Service) orderMail(ctx context.Context, r ports.Repos, e checkout.Paid) ([]draft, error) {
	if e.Offer.ListingType == listingtype.Appointment {
		return nil, nil
	}
	wants, err := s.deps.Accounts.Notifications(ctx, r, e.CreatorID)
	if err != nil || !wants.Orders {
		return nil, err
	}
	mail, err := s.toCreator(ctx, r, e.CreatorID, mailtemplate.KindNewOrder, e.PaymentID, mailtemplate.Order{
		PaymentID: e.PaymentID, Number: e.ReceiptNumber, Item: e.Offer.Title, Plan: e.Offer.PlanTitle(),
		Buyer: e.BuyerName, BuyerEmail: e.Email, Total: e.Total,
		PaidAt: e.At, ToDeliver: e.Offer.ListingType == listingtype.Service,
	})
	return []draft{mail}, err
}

// OnDisputeOpened notifies the creator of a dispute and of the time to respond.
func (s *Service) OnDisputeOpened(ctx context.Context, r ports.Repos, e dispute.Opened) error {
	return s.mailCreator(ctx, r, e.CreatorID, mailtemplate.KindDisputeOpened, e.ID, mailtemplate.Dispute{
		ID: e.ID, Amount: e.Share.Amount, Reason: e.Reason, RespondBy: e.RespondBy,
	})
}

// OnPayoutPaid notifies the creator of a payout, unless they want no such mails.
func (s *Service) OnPayoutPaid(ctx context.Context, r ports.Repos, e payout.PaidOut) error {
	wants, err := s.deps.Accounts.Notifications(ctx, r, e.CreatorID)
	if err != nil || !wants.Payouts {
		return err
	}
	return s.mailCreator(ctx, r, e.CreatorID, mailtemplate.KindPayoutPaid, e.ID, mailtemplate.Payout{
		ID: e.ID, Amount: e.Amount, At: e.PaidAt,
	})
}

// OnPayoutFailed notifies the creator of a payout that did not reach their bank, or came back.
func (s *Service) OnPayoutFailed(ctx context.Context, r ports.Repos, e payout.Failure) error {
	return s.mailCreator(ctx, r, e.CreatorID, mailtemplate.KindPayoutFailed, e.ID, mailtemplate.Payout{
		ID: e.ID, Amount: e.Amount, At: e.FailedAt, Reason: cmp.Or(e.FailureReason, "unknown"),
	})
}

// mailCreator enqueues a mail to the owner of an account.
func (s *Service) mailCreator(
	ctx context.Context, r ports.Repos, creatorID string, kind mailtemplate.Kind, cause string, data any,
) error {
	mail, err := s.toCreator(ctx, r, creatorID, kind, cause, data)
	if err != nil {
		return err
	}
	return s.enqueue(ctx, r, mail)
}

// toCreator returns a mail to the owner of an account.
func (s *Service) toCreator(
	ctx context.Context, r ports.Repos, creatorID string, kind mailtemplate.Kind, cause string, data any,
) (draft, error) {
	name, address, err := s.deps.Accounts.Account(ctx, r, creatorID)
	return newDraft(creatorID, kind, cause, recipient{address, name}, data), err
}
