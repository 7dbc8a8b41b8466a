package access

import (
	"context"
	"errors"
	"unicode/utf8"

	"sundry/core/access"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/ports"
)

const maxIdempotencyKey = 255

// Consumption is a request to use credits.
type Consumption struct {
	access.ConsumeRequest
	// IdempotencyKey identifies the use, per customer. It never expires.
	IdempotencyKey string
}

// Check lists everything that is wrong with the use itself, as one VALIDATION_FAILED error.
func (u Consumption) Check(externalCustomerID string) error {
	var f fault.Violations
	customer.ValidateExternalID("externalCustomerId", externalCustomerID, &f)
	f.Check(u.Key != "", "key", fault.DetailRequired, "Expected the key of a credit.")
	f.Check(u.Amount >= 1, "amount", fault.DetailOutOfRange, "Expected an integer of at least 1.")
	length := utf8.RuneCountInString(u.IdempotencyKey)
	f.Check(length > 0, "idempotencyKey", fault.DetailRequired, "Expected a key of your own that names this use.")
	f.Check(length <= maxIdempotencyKey, "idempotencyKey", fault.DetailTooLong, "Expected at most 255 characters.")
	return f.Err()
}

// ConsumeCredits takes the whole amount or nothing. A repeated use gets the same response and takes nothing.
// VALIDATION_FAILED with every fault; IDEMPOTENCY_KEY_MISMATCH when the key named another use; INSUFFICIENT_BALANCE.
func (s *Service) ConsumeCredits(
	ctx context.Context, creatorID, externalCustomerID string, u Consumption,
) (access.Balance, error) {
	if err := u.Check(externalCustomerID); err != nil {
		return access.Balance{}, err
	}
	var response access.Balance
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		var unit string
		replayed := false
		c, err := s.withLockedAccess(ctx, r, creatorID, externalCustomerID, func(c *lockedAccess) (access.Cause, error) {
			before, err := r.Access.CreditUses.Get(ctx, creatorID, externalCustomerID, u.IdempotencyKey)
			switch {
			case err == nil && before.Request != u.ConsumeRequest:
				return access.Cause{}, fault.New(
					fault.IdempotencyKeyMismatch,
					"This idempotencyKey named another use of credits. Give each use a key of its own.",
				)
			case err == nil:
				response, replayed = before.Result, true
				return access.Cause{}, nil
			case !errors.Is(err, ports.ErrNotFound):
				return access.Cause{}, err
			}
			unit, err = c.consume(ctx, u.ConsumeRequest)
			return access.Cause{Kind: access.CreditsConsumed, ID: u.IdempotencyKey}, err
		})
		if err != nil || replayed {
			return err
		}
		response = balance(c, u.ConsumeRequest, unit)
		return r.Access.CreditUses.Insert(ctx, access.CreditUse{
			CreatorID: creatorID, ExternalCustomerID: externalCustomerID, IdempotencyKey: u.IdempotencyKey,
			Request: u.ConsumeRequest, Result: response, At: c.now,
		})
	})
	return response, err
}

// consume draws from the grants and writes those that it changed.
func (c *lockedAccess) consume(ctx context.Context, d access.ConsumeRequest) (unit string, err error) {
	changed, unit, err := access.Consume(c.grants, d)
	if err != nil {
		return "", err
	}
	for _, g := range changed {
		if err := c.repos.Access.Grants.Update(ctx, g); err != nil {
			return "", err
		}
	}
	return unit, nil
}

// balance is the state of a credit after a use.
func balance(c *lockedAccess, d access.ConsumeRequest, unit string) access.Balance {
	b := access.Balance{Key: d.Key, Unit: unit, Amount: d.Amount, Version: c.document.Version}
	for _, credit := range access.Fold(c.grants).Credits {
		if credit.Key == d.Key && credit.Unit == unit {
			b.Granted, b.Used, b.Balance = credit.Granted, credit.Used, credit.Balance()
		}
	}
	return b
}
