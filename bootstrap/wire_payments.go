package bootstrap

import (
	"sundry/adapters/httpapi"
	paymentsapi "sundry/adapters/httpapi/payments"
	"sundry/adapters/jobs"
	"sundry/core/cardsetup"
	"sundry/core/payment"
	"sundry/modules/access"
	"sundry/modules/checkout"
	"sundry/modules/customers"
	"sundry/modules/files"
	"sundry/modules/identity"
	"sundry/modules/invoicing"
	"sundry/modules/payments"
	"sundry/modules/treasury"
	"sundry/ports"
)

func (a *App) wirePayments(accounts *identity.Service, buyers *customers.Service) *payments.Service {
	module := payments.New(
		payments.Config{
			BaseURL: a.cfg.BaseURL, Live: a.live(), Merchant: a.cfg.SellerName,
			Secrets: cardsetup.Secrets{Keys: a.keys.Links("card-setups")},
		},
		payments.Deps{
			Store: a.store, IDs: a.ids, Bus: a.bus, Provider: a.providers.Default(), Accounts: accounts,
			Customers: buyers, Limiter: a.limiter,
		})

	on(a.bus, module.OnCheckoutPaid) // before the subscription that the card pays for
	return module
}

func (a *App) wireAttempts(
	accounts *identity.Service, buyers *customers.Service, grants *access.Service, sales *checkout.Sales,
) *payments.Attempts {
	savedCards := payments.NewSavedCardOutcomes(payments.SavedCardDeps{
		IDs: a.ids, Accounts: accounts, Customers: buyers, Access: grants, Merchant: a.cfg.SellerName,
	})
	attempts := payments.NewAttempts(payments.AttemptDeps{
		Store: a.store, IDs: a.ids, Bus: a.bus, Providers: a.providers, Outcomes: map[payment.Purpose]ports.ChargeOutcomes{
			payment.ForCheckout: sales, payment.ForSubscription: savedCards, payment.ForInvoice: savedCards,
		}, Links: a.documentLinks(), Limiter: a.limiter,
	})
	a.mux.HandleFairly(payments.TaskCharge, jobs.Payments, attempts.Charge)
	a.mux.Handle(payments.TaskRefund, jobs.Payments, attempts.RefundPayment)
	return attempts
}

// disputeParts are the parts of other areas that collect evidence and keep files for disputes.
type disputeParts struct {
	// Sources are in the order in which they are asked: who the buyer is comes before what they were sent.
	Sources   []ports.EvidenceSource
	Files     *files.Service
	Documents *invoicing.Documents
}

// wireReturns wires refunds, disputes, and the inbox of the processor's events.
func (a *App) wireReturns(
	cards *payments.Service, ledger *treasury.Service, sales *checkout.Service, buyers *customers.Service,
	evidence disputeParts,
) (*payments.Refunds, *payments.Disputes, *payments.Inbox) {
	refunds := payments.NewRefunds(payments.RefundDeps{
		Store: a.store, IDs: a.ids, Bus: a.bus, Providers: a.providers, Ledger: ledger, Checkouts: sales,
		Customers: buyers, Links: a.documentLinks(),
	})
	disputes := payments.NewDisputes(payments.DisputeDeps{
		Store: a.store, IDs: a.ids, Bus: a.bus, Providers: a.providers, Ledger: ledger, Sources: evidence.Sources,
		Files: evidence.Files, Records: evidence.Files, Documents: evidence.Documents,
	})
	inbox := payments.NewInbox(payments.InboxDeps{
		Store: a.store, Clock: a.clock, Providers: a.providers, Refunds: refunds, Disputes: disputes,
		Setup: cards.RefreshSetup, Payout: ledger.RefreshPayout, PayoutAccount: ledger.RefreshPayoutAccount,
	})

	a.mux.Handle(payments.TaskRefundRequest, jobs.Payments, refunds.Finish)
	a.mux.Handle(payments.TaskProcessorEvent, jobs.Payments, inbox.Process)
	a.mux.Handle(payments.TaskDisputeResponse, jobs.Payments, disputes.FinishResponse)
	return refunds, disputes, inbox
}

func (a *App) paymentsAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: paymentsapi.Document, Routes: paymentsapi.Routes(paymentsapi.Deps{
		Live: a.live(), Payments: m.Payments, Refunds: m.Refunds, Disputes: m.Disputes, Inbox: m.Inbox,
		Links: a.documentLinks(),
	})}
}
