package dashboard

import (
	"slices"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/ledger"
	"sundry/core/money"
)

// earning is a line of what an order earns: the legs of a kind of posting on some accounts. The legs of a posting sum
// to zero, so what stands on the accounts of others, debits positive, is what the creator gets.
type earning struct {
	label    ui.Words
	kind     ledger.Kind
	accounts []ledger.Account
}

var (
	paidBy      = []ledger.Account{ledger.ProcessorClearing}
	owedAsTax   = []ledger.Account{ledger.TaxPayable}
	ourFee      = []ledger.Account{ledger.PlatformFee}
	disputedTax = []ledger.Account{ledger.DisputedFunds, ledger.CreatorReserved}
)

// earnings are the lines in their order.
var earnings = []earning{
	{"Buyer paid", ledger.KindSale, paidBy},
	{"Tax", ledger.KindSale, owedAsTax},
	{"Sundry’s fee", ledger.KindSale, ourFee},
	{"Refunded: it couldn’t be provided", ledger.KindReversal, paidBy},
	{"Tax in the refund", ledger.KindReversal, owedAsTax},
	{"Sundry’s fee, returned", ledger.KindReversal, ourFee},
	{"Refunded", ledger.KindRefund, paidBy},
	{"Tax in the refund", ledger.KindRefund, owedAsTax},
	{"Refund came back", ledger.KindRefundFailed, paidBy},
	{"Tax in what came back", ledger.KindRefundFailed, owedAsTax},
	{"Disputed", ledger.KindDisputeOpened, paidBy},
	{"Tax in the dispute", ledger.KindDisputeOpened, disputedTax},
	{"Dispute won", ledger.KindDisputeWon, paidBy},
	{"Tax in the dispute", ledger.KindDisputeWon, disputedTax},
}

// earningsPart shows what the buyer paid, what was taken from it and what the creator gets, in words. ok is false
// before anything was earned.
func (v *visit) earningsPart(entries []ledger.Entry) (p ui.Part, ok bool) {
	t := ui.Table{Label: "Earnings", Heads: []ui.Head{{Label: "What"}, {Label: "Amount", Num: true}}}
	add := func(label ui.Words, amount money.Amount) {
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{ui.Label(label), ui.Number(v.reader.Money(amount))}})
	}
	for _, line := range earnings {
		var sum money.Amount
		for _, e := range entries {
			if e.Kind == line.kind && slices.Contains(line.accounts, e.Account) {
				sum.Minor, sum.Currency = sum.Minor+e.Amount.Minor, e.Amount.Currency
			}
		}
		if sum.Minor != 0 {
			add(line.label, sum)
		}
	}
	var gets money.Amount
	for _, e := range entries {
		if e.Account == ledger.CreatorPending || e.Account == ledger.CreatorAvailable {
			gets.Minor, gets.Currency = gets.Minor-e.Amount.Minor, e.Amount.Currency
		}
	}
	if len(t.Rows) == 0 {
		return p, false
	}
	add("You get", gets)
	return ui.TablePart("Earnings", t), true
}
