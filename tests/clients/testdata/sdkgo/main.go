// Command lifecycle is a day of a shop's backend with the Go SDK. It prints what it saw.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	sundry "sundry/sdk/go"
)

func main() {
	ctx, net, saw := context.Background(), &network{}, map[string]any{}
	c := sundry.New(sundry.Config{
		BaseURL: os.Getenv("BASE_URL"), Key: os.Getenv("SECRET_KEY"), HTTPClient: &http.Client{Transport: net},
		Pause: 10 * time.Millisecond,
	})

	// a sale
	wanted := sundry.NewSession{
		Catalog: &sundry.CatalogReference{Listing: os.Getenv("LISTING"), Plan: "pro"}, ExternalCustomerID: "user 42",
		SuccessURL: "https://shop.example/thanks", Metadata: map[string]string{"order": "7"},
	}
	order := sundry.WithIdempotencyKey(ctx, "order-7")
	session := must(c.CreateSession(order, wanted))
	saw["sameSession"] = must(c.CreateSession(order, wanted)).ID == session.ID
	pay := map[string]string{"cardNumber": "4242424242424242", "email": "grace@example.com"}
	do(c.Do(ctx, http.MethodPost, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay", pay, nil))
	receipt := must(c.WaitForReceipt(ctx, session.ID))
	saw["receipt"], saw["totalInCents"] = receipt.Status, receipt.TotalInCents
	saw["booked"] = book(ctx, c, os.Getenv("CALL")).TotalInCents == 900

	// what it gives, also while the service is away
	cache := c.NewAccessCache(0, 0)
	access := must(cache.Wait(ctx, "user 42", receipt.AccessVersion-1))
	access = must(cache.Get(ctx, "user 42"))
	access = must(cache.Get(ctx, "user 42")) // by its ETag
	saw["export"], saw["seats"], saw["planStatus"] = access.Allows("export"), access.Limit("seats"), access.ActivePlans[0].Status
	net.down.Store(true)
	access = must(cache.Get(ctx, "user 42"))
	net.down.Store(false)
	saw["stale"] = access.Stale && access.HasPlan(os.Getenv("LISTING"), "pro")

	// usage
	do(c.Do(ctx, http.MethodPost, "/v1/usage/billing-plans", map[string]string{
		"subscriptionId": receipt.SubscriptionID, "meterId": os.Getenv("METER_ID"), "priceId": os.Getenv("PRICE_ID"),
		"billingInterval": "month",
	}, nil))
	use := sundry.Use{SubscriptionID: receipt.SubscriptionID, Meter: "api.calls", Quantity: "12.5", IdempotencyKey: "use-1"}
	must(c.ReportUse(ctx, use))
	saw["duplicateUse"] = must(c.ReportUse(ctx, use)).Duplicate
	use.IdempotencyKey = ""
	saw["uses"] = len(must(c.ReportUses(ctx, []sundry.Use{use, use})))

	// customers, invoices, refunds
	must(c.UpdateCustomer(ctx, receipt.CustomerID, sundry.NewCustomer{
		BillingAddress: &sundry.Address{Country: "IE"}, Metadata: map[string]string{"crm": "4711"},
	}))
	customer := must(c.Customer(ctx, receipt.CustomerID, "subscriptions", "paymentMethods"))
	saw["crm"], saw["expanded"] = customer.Metadata["crm"], len(customer.Expanded)
	saw["portalUrl"] = must(c.PortalURL(ctx, receipt.CustomerID, "https://shop.example")) != ""
	invoice := sundry.NewInvoice{
		CustomerID: receipt.CustomerID, Currency: "eur", LineItems: []sundry.InvoiceLine{{Description: "Setup", AmountInCents: 500}},
	}
	made := must(c.CreateInvoice(ctx, "invoice-1", invoice))
	saw["invoiceStatus"], saw["sameInvoice"] = made.Status, must(c.CreateInvoice(ctx, "invoice-1", invoice)).ID == made.ID
	count := 0
	for _, err := range sundry.List[sundry.Invoice](ctx, c, "/v1/invoices", nil) {
		must(count, err)
		count++
	}
	saw["invoices"] = count
	refund := must(c.CreateRefund(ctx, sundry.NewRefund{CheckoutID: session.ID, AmountInCents: 300, Reason: "goodwill"}))
	for end := time.Now().Add(30 * time.Second); refund.Status == "pending" && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		do(c.Do(ctx, http.MethodGet, "/v1/refunds/"+refund.ID, nil, refund))
	}
	saw["refundStatus"] = refund.Status

	// refusals
	_, err := c.CreateCustomer(ctx, sundry.NewCustomer{})
	if refusal, ok := errors.AsType[*sundry.Error](err); ok {
		saw["refused"], saw["refusedField"] = refusal.Code, refusal.Details[0].Field
	}
	err = c.Do(ctx, http.MethodPost, "/v1/payouts", map[string]any{"currency": "eur", "amountInCents": 100}, nil)
	if refusal, ok := errors.AsType[*sundry.Error](err); ok {
		saw["missingScope"] = refusal.Code
	}
	do(webhook(ctx, c, saw))
	var events []string
	for page, err := range c.Events(ctx, "", nil) {
		for _, event := range must(page, err).Data {
			events = append(events, event.Type)
		}
	}
	saw["events"] = events
	do(json.NewEncoder(os.Stdout).Encode(saw))
}
