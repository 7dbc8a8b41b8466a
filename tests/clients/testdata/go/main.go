// Command client runs the main flow of an integration with the generated client: a listing, a session, a payment, its
// receipt and access.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func client(credential string) (*ClientWithResponses, error) {
	return NewClientWithResponses(os.Getenv("BASE_URL"),
		WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+credential)
			return nil
		}))
}

// ok fails unless the response has the data that a success has.
func ok[T any](step string, data *T, body []byte, err error) error {
	if err == nil && data == nil {
		err = fmt.Errorf("refused: %s", body)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return nil
}

func run(ctx context.Context) error {
	creator, err := client(os.Getenv("ACCESS_TOKEN"))
	if err != nil {
		return err
	}
	backend, err := client(os.Getenv("SECRET_KEY"))
	if err != nil {
		return err
	}
	slug, customer, cancelURL, headless := os.Getenv("SLUG"), "user-42", "https://shop.example/pricing", true

	listing, err := creator.CreateListingWithResponse(ctx, NewListing{
		Type: DIGITAL, Slug: slug, Title: "Type specimens", PriceInCents: 1200, Currency: "eur",
	})
	if err := ok("create", listing.JSON201, listing.Body, err); err != nil {
		return err
	}
	published, err := creator.PublishListingWithResponse(ctx, listing.JSON201.Id)
	if err := ok("publish", published.JSON200, published.Body, err); err != nil {
		return err
	}
	session, err := backend.CreateCheckoutSessionWithResponse(ctx, &CreateCheckoutSessionParams{IdempotencyKey: &slug},
		NewCheckoutSession{
			Catalog: &CatalogReference{Listing: slug}, ExternalCustomerId: &customer,
			SuccessUrl: "https://shop.example/thanks", CancelUrl: &cancelURL,
		})
	if err := ok("session", session.JSON201, session.Body, err); err != nil {
		return err
	}
	paid, err := backend.SandboxPayWithResponse(ctx, session.JSON201.Id, nil,
		SandboxPayment{CardNumber: "4242424242424242"})
	if err := ok("pay", paid.JSON200, paid.Body, err); err != nil {
		return err
	}
	read, err := backend.GetReceiptWithResponse(ctx, session.JSON201.Id, &GetReceiptParams{Headless: &headless})
	if err := ok("receipt", read.JSON200, read.Body, err); err != nil {
		return err
	}
	receipt, err := read.JSON200.AsReceipt()
	if err != nil {
		return err
	}
	access, err := backend.GetCustomerAccessWithResponse(ctx, customer, &GetCustomerAccessParams{})
	if err := ok("access", access.JSON200, access.Body, err); err != nil {
		return err
	}
	refused, err := backend.CreateCheckoutSessionWithResponse(ctx, &CreateCheckoutSessionParams{}, NewCheckoutSession{
		ListingId: &customer, SuccessUrl: "https://shop.example/thanks",
	})
	if err != nil {
		return err
	}
	var plans []string
	for _, plan := range access.JSON200.ActivePlans {
		plans = append(plans, plan.ListingKey)
	}
	code := ""
	for _, refusal := range []*Error{refused.JSON400, (*Error)(refused.JSON404)} {
		if refusal != nil {
			code = string(refusal.Code)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"status": paid.JSON200.Status, "receipt": receipt.Status, "plans": plans, "refused": code,
	})
}
