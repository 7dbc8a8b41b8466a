package bootstrap

import (
	"sundry/adapters/httpapi"
	paymentsapi "sundry/adapters/httpapi/payments"
	"sundry/adapters/jobs"
	"sundry/core/cardsetup"
	"sundry/core/payment"
	"sundry/modules/checkout"
	"sundry/modules/payments"
)

func (a *App) wirePayments() error {
	module := payments.New(
		payments.Config{
			BaseURL: a.cfg.BaseURL, Sandbox: a.inSandbox(), Secrets: cardsetup.Secrets{Key: a.secrets.derive("card-setups")},
		},
		payments.Deps{
			Store: a.store, IDs: a.ids, Bus: a.bus, Processor: a.processor, Cards: a.processor, Accounts: a.modules.Identity,
		})
	a.modules.Payments = module

	on(a.bus, module.OnCheckoutPaid) // before the subscription that the card pays for
	a.mux.HandleFairly(payments.TaskCharge, jobs.Payments, module.Charge)
	a.mux.Handle(payments.TaskRefund, jobs.Payments, module.RefundPayment)
	a.beforeAdvance = append(a.beforeAdvance, module.ReconcileSoon)
	a.wireReturns()
	return nil
}

// wireReturns wires what gives money back: refunds, and disputes with the processor's events about them.
func (a *App) wireReturns() {
	events, sendTo := a.processorEvents()
	refunds := payments.NewRefunds(payments.RefundDeps{
		Store: a.store, IDs: a.ids, Bus: a.bus, Processor: a.processor, Made: a.processor, Book: a.modules.Treasury, Checkouts: a.modules.Checkout,
		Links: a.documentLinks(),
	})
	disputes := payments.NewDisputes(payments.DisputeDeps{
		Store: a.store, Clock: a.clock, IDs: a.ids, Bus: a.bus, Processor: a.processor, Events: events, Book: a.modules.Treasury,
		Refunds: refunds, Setups: a.modules.Payments.RefreshSetup, Payouts: a.modules.Treasury.RefreshPayout,
		PayoutAccounts: a.modules.Treasury.RefreshPayoutAccount, Reconcile: map[payment.Purpose]string{
			payment.ForCheckout: checkout.TaskReconcile, payment.ForSubscription: payments.TaskCharge, payment.ForInvoice: payments.TaskCharge,
		},
	})
	sendTo(disputes.Receive)
	a.modules.Refunds, a.modules.Disputes = refunds, disputes

	a.mux.Handle(payments.TaskRefundRequest, jobs.Payments, refunds.Finish)
	a.mux.Handle(payments.TaskProcessorEvent, jobs.Payments, disputes.Process)
	a.mux.Handle(payments.TaskDisputeResponse, jobs.Payments, disputes.FinishResponse)
}

func (a *App) paymentsAPI() httpapi.Area {
	return httpapi.Area{Document: paymentsapi.Document, Routes: paymentsapi.Routes(paymentsapi.Deps{
		Sandbox: a.inSandbox(), Payments: a.modules.Payments, Refunds: a.modules.Refunds, Disputes: a.modules.Disputes,
		Links: a.documentLinks(),
	})}
}
