package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"

	"sundry/tests/bench/process"
)

// sundry is ours: the built program with all roles, on its sandbox processor.
type sundry struct{ url, binary, key string }

func (s *sundry) prepare(ctx context.Context, e environment) (err error) {
	if err := os.MkdirAll(e.folder, 0o750); err != nil {
		return err
	}
	s.binary, err = process.Build(ctx, e.folder)
	return err
}

func (s *sundry) start(ctx context.Context, e environment) (server, error) {
	running, err := process.StartSundry(ctx, s.binary, "", "DATABASE_URL="+e.database, "REDIS_URL="+e.redis,
		"APP_SECRET="+rand.Text()+rand.Text())
	if err != nil {
		return nil, err
	}
	s.url = running.URL
	s.key, err = running.SecretKey(ctx)
	return running, err
}

// buy opens a session and pays it: tax, ledger, receipt, access, mail and event included.
func (s *sundry) buy(ctx context.Context, customer string) error {
	head := map[string]string{"Authorization": "Bearer " + s.key, "Idempotency-Key": customer}
	var session struct{ ID string }
	_, err := post(ctx, s.url+"/v1/checkout-sessions", head, map[string]any{
		"catalog": map[string]any{"listing": "field-guide"}, "externalCustomerId": customer,
		"successUrl": "https://shop.example.com/thanks", "cancelUrl": "https://shop.example.com/pricing",
	}, &session)
	if err != nil {
		return err
	}
	var receipt struct {
		Status        string
		AccessVersion int
	}
	_, err = post(ctx, s.url+"/v1/sandbox/checkout-sessions/"+session.ID+"/pay",
		map[string]string{"Authorization": "Bearer " + s.key},
		map[string]any{"cardNumber": "4242424242424242", "email": customer + "@example.com", "country": "DE"}, &receipt)
	if err == nil && (receipt.Status != "paid" || receipt.AccessVersion < 1) {
		err = fmt.Errorf("the receipt says %+v", receipt)
	}
	return err
}
