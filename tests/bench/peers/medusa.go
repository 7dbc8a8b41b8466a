package main

import (
	"context"
	"fmt"
	"net"

	"sundry/tests/bench/process"
)

// medusa is Medusa, with Redis for its cache, events, workflows and locks. Its own provider authorizes payments, and
// does not capture them.
type medusa struct {
	url                  string
	Key, Region, Variant string
}

func (m *medusa) prepare(ctx context.Context, e environment) error {
	if err := e.install(ctx, "medusa"); err != nil {
		return err
	}
	if _, err := e.run(ctx, "node", "node_modules/.bin/medusa", "db:migrate", "--skip-scripts"); err != nil {
		return err
	}
	return e.seed(ctx, m, "node", "node_modules/.bin/medusa", "exec", "./src/scripts/seed.js")
}

func (m *medusa) start(ctx context.Context, e environment) (server, error) {
	m.url = e.url() + "/store/"
	host, port, err := net.SplitHostPort(e.address)
	if err != nil {
		return nil, err
	}
	return process.Start(ctx, process.Config{
		Args: []string{"node", "node_modules/.bin/medusa", "start", "-H", host, "-p", port}, Dir: e.folder, Env: e.vars(),
		Ready: e.url() + "/health",
	})
}

// buy fills a cart, opens a payment for it and completes it.
func (m *medusa) buy(ctx context.Context, customer string) error {
	head := map[string]string{"X-Publishable-Api-Key": m.Key}
	var opened struct{ Cart struct{ ID string } }
	_, err := post(ctx, m.url+"carts", head, map[string]any{"region_id": m.Region, "email": customer + "@example.com",
		"items": []any{map[string]any{"variant_id": m.Variant, "quantity": 1}}}, &opened)
	if err != nil {
		return err
	}
	var payment struct {
		Collection struct{ ID string } `json:"payment_collection"`
	}
	if _, err := post(ctx, m.url+"payment-collections", head, map[string]any{"cart_id": opened.Cart.ID}, &payment); err != nil {
		return err
	}
	var session map[string]any
	_, err = post(ctx, m.url+"payment-collections/"+payment.Collection.ID+"/payment-sessions", head,
		map[string]any{"provider_id": "pp_system_default"}, &session)
	if err != nil {
		return err
	}
	var completed struct{ Type string }
	_, err = post(ctx, m.url+"carts/"+opened.Cart.ID+"/complete", head, map[string]any{}, &completed)
	if err == nil && completed.Type != "order" {
		err = fmt.Errorf("the cart became %q", completed.Type)
	}
	return err
}
