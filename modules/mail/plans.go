package mail

import (
	"context"
	"fmt"

	"sundry/core/apiformat"
	"sundry/core/customer"
	"sundry/core/subscription"
	"sundry/modules/mail/mailtemplate"
	"sundry/ports"
)

func (s *Service) aboutPlans() []ports.Subscription {
	return []ports.Subscription{
		ports.On(s.OnPortalLinkAsked), ports.On(s.OnSubscriptionRenewalDue), ports.On(s.OnSubscriptionChargeFailed),
		ports.On(s.OnSubscriptionChargePaid),
	}
}

// OnPortalLinkAsked mails a customer a new link to their portal, at most once an hour unless they have changed: the
// address may have been wrong.
func (s *Service) OnPortalLinkAsked(ctx context.Context, r ports.Repos, e customer.LinkAsked) error {
	cause := fmt.Sprintf("%s/%s/%d", e.ID, e.At.Format("2006-01-02T15"), e.Revision)
	return s.mailPlan(ctx, r, e.CreatorID, mailtemplate.KindPortalLink, cause, mailtemplate.Plan{CustomerID: e.ID})
}

// OnSubscriptionRenewalDue notifies a customer of a charge that is a week away.
func (s *Service) OnSubscriptionRenewalDue(ctx context.Context, r ports.Repos, e subscription.RenewalDue) error {
	return s.mailPlan(ctx, r, e.CreatorID, mailtemplate.KindRenewalDue, e.ID+"/"+apiformat.Instant(e.CurrentPeriodEnd),
		mailtemplate.Plan{
			CustomerID: e.CustomerID, Item: e.Offer.Name(), Amount: e.Amount, At: e.CurrentPeriodEnd,
			Trial: e.Status == subscription.StatusTrialing,
		})
}

// OnSubscriptionChargeFailed notifies a customer that their card failed, and of where to pay or to confirm the payment.
func (s *Service) OnSubscriptionChargeFailed(ctx context.Context, r ports.Repos, e subscription.ChargeFailed) error {
	cause := fmt.Sprintf("%s/%d", e.ID, e.Revision)
	return s.mailPlan(ctx, r, e.CreatorID, mailtemplate.KindChargeFailed, cause, mailtemplate.Plan{
		CustomerID: e.CustomerID, Item: e.Offer.Name(), At: e.Dunning.NextAttemptAt, GraceEndsAt: e.Dunning.GraceEndsAt,
		Amount: e.Payment.Amount, Brand: e.Payment.Brand, Last4: e.Payment.Last4, DeclineCode: string(e.Dunning.DeclineCode),
		GraceOver: !e.At.Before(e.Dunning.GraceEndsAt),
	})
}

// OnSubscriptionChargePaid mails the receipt of a renewal or of a change of plan.
func (s *Service) OnSubscriptionChargePaid(ctx context.Context, r ports.Repos, e subscription.ChargePaid) error {
	sale := e.Payment.Sale
	return s.mailPlan(ctx, r, e.Payment.CreatorID, mailtemplate.KindRenewed, e.Payment.ID, mailtemplate.Plan{
		CustomerID: e.Subscription.CustomerID, Item: e.Subscription.Offer.Name(), Amount: e.Payment.Amount,
		At: e.Payment.SettledAt, PaymentID: e.Payment.ID, Number: sale.ReceiptNumber, Subtotal: sale.Subtotal,
		Discount: sale.Discount, Credit: sale.Credit, Tax: sale.Tax,
		TaxDetails: mailtemplate.WithoutEvidence(sale.TaxDetails),
	})
}

// mailPlan enqueues a mail to a customer, if their address is known.
func (s *Service) mailPlan(
	ctx context.Context, r ports.Repos, creatorID string, kind mailtemplate.Kind, cause string, data mailtemplate.Plan,
) error {
	to, err := s.deps.Customers.Customer(ctx, r, data.CustomerID)
	if err != nil || to.Email == "" {
		return err
	}
	data.Locale = to.Details.Locale
	if data.ReplyTo, data.Look, err = s.seller(ctx, r, creatorID); err != nil {
		return err
	}
	data.Seller = data.ReplyTo.Name
	return s.enqueue(ctx, r, newDraft(creatorID, kind, cause, recipient{to.Email, to.DisplayName}, data))
}
