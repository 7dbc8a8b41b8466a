package mailtemplate

import (
	"cmp"
	"strings"
	"time"

	"sundry/core/money"
)

// The mails about money that moved: to the buyer about a refund, to the creator about all else.
var (
	KindRefund        = define("refund.created", refunded)
	KindRefundFailed  = define("refund.failed", refundFailed)
	KindNewOrder      = define("creator.order", newOrder)
	KindDisputeOpened = define("creator.dispute.opened", disputeOpened)
	KindPayoutPaid    = define("creator.payout.paid", payoutPaid)
	KindPayoutFailed  = define("creator.payout.failed", payoutFailed)

	KindCreatorRefundFailed = define("creator.refund.failed", creatorRefundFailed)
)

// Refund holds the data of the mail about money on its way back to the buyer.
type Refund struct {
	// SubjectID names the refund, or the payment that was reversed.
	SubjectID string       `json:"subjectId"`
	Seller    string       `json:"seller"`
	Item      string       `json:"item,omitempty"`
	Amount    money.Amount `json:"amount"`
	// HasCreditNote is true where the payment had a receipt, and CreditNote is the number, where it is known.
	HasCreditNote bool      `json:"hasCreditNote,omitempty"`
	CreditNote    string    `json:"creditNote,omitempty"`
	At            time.Time `json:"at"`               // account time
	ReplyTo       Party     `json:"replyTo,omitzero"` // the seller
	Look          Look      `json:"look,omitzero"`    // theirs
	Locale        string    `json:"locale,omitempty"` // the buyer's
}

func refunded(site Site, to reader, f Refund) draft {
	d := f.draft(to, "refund")
	if f.CreditNote != "" {
		d.Rows = append(d.Rows, row{Label: to.words("refund.credit_note"), Value: f.CreditNote})
	}
	d.Rows = append(d.Rows, row{Label: to.words("receipt.date"), Value: to.Moment(f.At)})
	if f.HasCreditNote {
		d.Links = []link{{to.words("refund.view"), site.CreditNoteURL(f.SubjectID)}}
	}
	return d
}

// refundFailed says that the money of a refund, which the buyer was told of, did not reach them.
func refundFailed(_ Site, to reader, f Refund) draft {
	d := f.draft(to, "refund_failed")
	d.Rows = append(d.Rows, row{Label: to.words("receipt.date"), Value: to.Moment(f.At)})
	return d
}

// draft writes the mail with the texts under a key, up to the amount.
func (f Refund) draft(to reader, key string) draft {
	amount := to.Money(f.Amount)
	d := draft{
		Subject: to.words(key+".subject", amount, f.Seller), Heading: to.words(key + ".heading"),
		Figure: amount, Money: true,
		Lead:   []string{to.words(key+".lead", oneLine(f.Seller), amount)},
		Footer: to.words("receipt.footer", oneLine(f.Seller)),
	}
	if f.Item != "" {
		d.Rows = append(d.Rows, row{Label: to.words("receipt.item"), Value: f.Item})
	}
	d.Rows = append(d.Rows, row{Label: to.words(key + ".amount"), Value: amount, Strong: true})
	return d
}

// RefundFailure holds the data of the mail about a refund that did not reach its buyer.
type RefundFailure struct {
	PaymentID string       `json:"paymentId"`
	Item      string       `json:"item,omitempty"`
	Amount    money.Amount `json:"amount"`
	Reason    string       `json:"reason"` // the processor's word
	At        time.Time    `json:"at"`     // account time
}

func creatorRefundFailed(site Site, to reader, f RefundFailure) draft {
	amount := to.Money(f.Amount)
	d := draft{
		Subject: to.words("creator_refund_failed.subject", amount), Heading: to.words("creator_refund_failed.heading"),
		Figure: amount, Money: true, Lead: []string{to.words("creator_refund_failed.lead", amount)},
		Links:  []link{{to.words("order.open"), site.DashboardURL("/orders/" + f.PaymentID)}},
		Footer: to.words("creator_refund_failed.footer"),
	}
	if f.Item != "" {
		d.Rows = append(d.Rows, row{Label: to.words("receipt.item"), Value: f.Item})
	}
	d.Rows = append(d.Rows,
		row{Label: to.words("refund_failed.amount"), Value: amount, Strong: true},
		row{Label: to.words("dispute.reason"), Value: plain(f.Reason)},
		row{Label: to.words("receipt.date"), Value: to.Moment(f.At)},
	)
	return d
}

// Order holds the data of the mail about a sale.
type Order struct {
	PaymentID  string       `json:"paymentId"`
	Number     string       `json:"number,omitempty"`
	Item       string       `json:"item"`
	Plan       string       `json:"plan,omitempty"` // empty where it would only repeat the item
	Buyer      string       `json:"buyer,omitempty"`
	BuyerEmail string       `json:"buyerEmail,omitempty"`
	Total      money.Amount `json:"total"`
	PaidAt     time.Time    `json:"paidAt"` // account time
	// ToDeliver means that the creator has to do what was sold.
	ToDeliver bool `json:"toDeliver,omitempty"`
}

func newOrder(site Site, to reader, o Order) draft {
	d := draft{
		Subject: to.words("order.subject", o.Item), Heading: to.words("order.heading"),
		Figure: to.Money(o.Total), Money: true,
		Lead:   []string{to.words("order.lead", cmp.Or(oneLine(o.Buyer), to.words("order.buyer")), oneLine(o.Item))},
		Rows:   []row{{Label: to.words("receipt.item"), Value: o.Item, Note: o.Plan}},
		Links:  []link{{to.words("order.open"), site.DashboardURL("/orders/" + o.PaymentID)}},
		Footer: to.words("order.footer"),
	}
	if o.ToDeliver {
		d.Subject = to.words("order.subject_deliver", o.Item)
		d.Lead = append(d.Lead, to.words("order.deliver"))
		if o.BuyerEmail != "" {
			d.Lead[1] = to.words("order.deliver_to", o.BuyerEmail)
		}
	}
	for _, r := range []row{
		{Label: to.words("order.name"), Value: o.Buyer}, {Label: to.words("order.email"), Value: o.BuyerEmail},
		{Label: to.words("receipt.total"), Value: to.Money(o.Total), Strong: true},
		{Label: to.words("receipt.number"), Value: o.Number},
	} {
		if r.Value != "" {
			d.Rows = append(d.Rows, r)
		}
	}
	d.Rows = append(d.Rows, row{Label: to.words("receipt.date"), Value: to.Moment(o.PaidAt)})
	return d
}

// Dispute holds the data of the mail about a dispute that was opened.
type Dispute struct {
	ID        string       `json:"id"`
	Amount    money.Amount `json:"amount"`
	Reason    string       `json:"reason"`    // the bank's word
	RespondBy time.Time    `json:"respondBy"` // account time
}

func disputeOpened(site Site, to reader, p Dispute) draft {
	return draft{
		Subject: to.words("dispute.subject", to.Money(p.Amount), to.Date(p.RespondBy)),
		Heading: to.words("dispute.heading"), Figure: to.Money(p.Amount), Money: true,
		Lead: []string{to.words("dispute.lead", to.Money(p.Amount), to.Moment(p.RespondBy))},
		Rows: []row{
			{Label: to.words("dispute.amount"), Value: to.Money(p.Amount), Strong: true},
			{Label: to.words("dispute.reason"), Value: plain(p.Reason)},
			{Label: to.words("dispute.respond_by"), Value: to.Moment(p.RespondBy)},
		},
		Links:  []link{{to.words("dispute.open"), site.DashboardURL("/disputes/" + p.ID)}},
		Footer: to.words("dispute.footer"),
	}
}

// Payout holds the data of the mails about a payout.
type Payout struct {
	ID     string       `json:"id"`
	Amount money.Amount `json:"amount"`
	At     time.Time    `json:"at"`               // account time
	Reason string       `json:"reason,omitempty"` // the bank's word, where it failed
}

func payoutPaid(site Site, to reader, p Payout) draft { return p.draft(site, to, "payout") }

func payoutFailed(site Site, to reader, p Payout) draft {
	d := p.draft(site, to, "payout_failed")
	d.Rows = append(d.Rows, row{Label: to.words("dispute.reason"), Value: plain(p.Reason)})
	return d
}

// draft writes the mail with the texts under a key.
func (p Payout) draft(site Site, to reader, key string) draft {
	return draft{
		Subject: to.words(key+".subject", to.Money(p.Amount)), Heading: to.words(key + ".heading"),
		Figure: to.Money(p.Amount), Money: true, Lead: []string{to.words(key+".lead", to.Money(p.Amount))},
		Rows: []row{
			{Label: to.words("payout.amount"), Value: to.Money(p.Amount), Strong: true},
			{Label: to.words("receipt.date"), Value: to.Moment(p.At)},
		},
		Links:  []link{{to.words("payout.open"), site.DashboardURL("/balance/payouts/" + p.ID)}},
		Footer: to.words(key + ".footer"),
	}
}

// plain writes a word of a bank or a processor as people do: product_not_received has spaces.
func plain(word string) string {
	word = strings.ReplaceAll(oneLine(word), "_", " ")
	if word == "" {
		return word
	}
	return strings.ToUpper(word[:1]) + word[1:]
}
