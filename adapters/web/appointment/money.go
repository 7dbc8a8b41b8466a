package appointment

import (
	"github.com/gofiber/fiber/v2"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/refund"
	"sundry/modules/booking"
)

// addMoney fills in what the page shows of the money.
func (r *Routes) addMoney(c *fiber.Ctx, p *page, m booking.Managed) error {
	money, err := r.cancellations.MoneyOf(c.UserContext(), m.State, appointment.ByBuyer)
	if err != nil {
		return err
	}
	p.Expected = money.Amount.Minor
	p.Money = p.moneyText(m.State, money)
	switch {
	case p.State == "canceled":
		p.Canceler = p.cancelerText(m.CanceledBy)
	case m.RefundPolicy.Promised && money.Decision == appointment.RefundDue:
		zone, err := civil.ParseZone(m.Timezone)
		if err != nil {
			return err
		}
		until := m.RefundPolicy.Until(m.StartsAt).In(zone)
		p.Policy = p.reader.Text("apt.policy", p.reader.Day(until)+", "+p.reader.Clock(until))
	}
	return nil
}

func (p page) cancelerText(by appointment.Canceler) string {
	switch by {
	case appointment.ByBuyer:
		return p.reader.Text("apt.done_canceled")
	case appointment.ByCreator:
		return p.reader.Text("apt.canceled_by", p.Seller)
	case appointment.BySystem:
	}
	return p.reader.Text("apt.canceled")
}

// refundTexts describe how far a refund is; "" is one that canceling would make.
var refundTexts = map[refund.Status]string{
	"": "apt.money.due", refund.Pending: "apt.money.pending", refund.Succeeded: "apt.money.refunded",
	refund.Failed: "apt.money.failed",
}

// moneyText says what canceling does, or did, to the payment.
func (p page) moneyText(a appointment.State, m booking.Money) string {
	switch m.Decision {
	case appointment.RefundDue:
		if m.Status == refund.Failed {
			return p.reader.Text(refundTexts[m.Status], p.reader.Money(m.Amount), p.Seller)
		}
		return p.reader.Text(refundTexts[m.Status], p.reader.Money(m.Amount))
	case appointment.NoRefundPolicy, appointment.RefundDeclined:
		return p.reader.Text("apt.money.no_policy", p.Seller)
	case appointment.TooLateToRefund:
		hours := p.reader.Count("hours", a.RefundPolicy.FullHours)
		if a.Status == appointment.StatusCanceled {
			return p.reader.Text("apt.money.was_too_late", hours)
		}
		return p.reader.Text("apt.money.too_late", hours)
	case appointment.PaymentDisputed:
		return p.reader.Text("apt.money.disputed")
	case appointment.NothingLeft:
		return p.reader.Text("apt.money.already_refunded")
	case appointment.NothingPaid:
	}
	return ""
}
