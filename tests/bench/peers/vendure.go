package main

import (
	"context"
	"encoding/json"
	"fmt"

	"sundry/tests/bench/process"
)

// vendure is Vendure, without its worker. Its dummy payments settle at once.
type vendure struct {
	url             string
	Variant, Method string
}

func (v *vendure) prepare(ctx context.Context, e environment) error {
	if err := e.install(ctx, "vendure"); err != nil {
		return err
	}
	return e.seed(ctx, v, "node", "seed.js")
}

func (v *vendure) start(ctx context.Context, e environment) (server, error) {
	v.url = e.url() + "/shop-api"
	return process.Start(ctx, process.Config{Args: []string{"node", "server.js"}, Dir: e.folder, Env: e.vars(),
		Ready: e.url() + "/health"})
}

// buy fills an order, says whose it is and pays it.
func (v *vendure) buy(ctx context.Context, customer string) error {
	head := map[string]string{}
	for _, step := range []struct{ name, arguments, state string }{
		{"addItemToOrder", fmt.Sprintf(`productVariantId: %q, quantity: 1`, v.Variant), "AddingItems"},
		{"setCustomerForOrder", fmt.Sprintf(`input: { firstName: "Lena", lastName: "Buyer", emailAddress: %q }`,
			customer+"@example.com"), "AddingItems"},
		{"transitionOrderToState", `state: "ArrangingPayment"`, "ArrangingPayment"},
		{"addPaymentToOrder", fmt.Sprintf(`input: { method: %q, metadata: {} }`, v.Method), "PaymentSettled"},
	} {
		query := fmt.Sprintf("mutation { %s(%s) { ... on Order { state } ... on ErrorResult { message } } }", step.name,
			step.arguments)
		var answer struct {
			Data   map[string]struct{ State, Message string }
			Errors json.RawMessage
		}
		header, err := post(ctx, v.url, head, map[string]string{"query": query}, &answer)
		if err != nil {
			return err
		}
		if got := answer.Data[step.name]; got.State != step.state {
			return fmt.Errorf("%s: %q %s %s", step.name, got.State, got.Message, answer.Errors)
		}
		if token := header.Get("Vendure-Auth-Token"); token != "" {
			head["Authorization"] = "Bearer " + token
		}
	}
	return nil
}
