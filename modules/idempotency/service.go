// Package idempotency runs requests at most once under their keys and keeps the responses for a day.
package idempotency

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"sundry/core/fault"
	"sundry/ports"
)

const lease = time.Minute

// TaskSweep deletes expired responses. It is the platform's and periodic.
const TaskSweep = "idempotency.sweep"

const sweepInterval = time.Hour

// Service stores responses. They are encrypted, because some show values that are encrypted or not stored at all
// elsewhere, such as a signing secret or the address of a checkout.
type Service struct {
	store     ports.Store
	clock     ports.Clock
	encrypter ports.Encrypter
}

var _ ports.IdempotentRequests = (*Service)(nil)

// New returns the service.
func New(store ports.Store, clock ports.Clock, encrypter ports.Encrypter) *Service {
	return &Service{store: store, clock: clock, encrypter: encrypter}
}

type work = func(ctx context.Context) (ports.StoredResponse, error)

// Transactional implements ports.IdempotentRequests. Nearly all keys are new, so the first try does not wait for what
// the database knows of the key: that comes with what work reads, or at the commit.
func (s *Service) Transactional(
	ctx context.Context, request ports.IdempotentRequest, work work,
) (response ports.StoredResponse, replayed bool, err error) {
	record := s.newRecord(request)
	response, replayed, err = s.transactional(ctx, record, work, s.claimNew)
	if errors.Is(err, ports.ErrKeyTaken) {
		return s.transactional(ctx, record, work, s.claim)
	}
	return response, replayed, err
}

// transactional is Transactional of a key that take claims.
func (s *Service) transactional(
	ctx context.Context, record ports.IdempotencyRecord, work work, take take,
) (response ports.StoredResponse, replayed bool, err error) {
	failed := false
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		failed = false
		if response, replayed, err = take(ctx, r, record); err != nil || replayed {
			return err
		}
		if response, err = work(ctx); err != nil {
			failed = true
			return err
		}
		return s.save(ctx, r, s.completed(record, response))
	})
	if !failed || errors.Is(err, ports.ErrKeyTaken) || errors.Is(err, ports.ErrDatabaseBusy) ||
		errors.Is(err, ports.ErrDatabaseLost) {
		return response, replayed, err
	}
	return s.lookAgain(ctx, record, err)
}

// lookAgain looks for the response of a key whose work failed, perhaps before it was known whether the key has one: a
// request with the same key may have caused the failure.
func (s *Service) lookAgain(
	ctx context.Context, record ports.IdempotencyRecord, failure error,
) (response ports.StoredResponse, replayed bool, err error) {
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		response, replayed, err = s.claim(ctx, r, record)
		return err
	})
	if err != nil || replayed {
		return response, replayed, err
	}
	return ports.StoredResponse{}, false, failure
}

// Leased implements ports.IdempotentRequests.
func (s *Service) Leased(
	ctx context.Context, request ports.IdempotentRequest, work work,
) (response ports.StoredResponse, replayed bool, err error) {
	record := s.newRecord(request)
	record.LeaseUntil = record.CreatedAt.Add(lease)
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if response, replayed, err = s.claim(ctx, r, record); err != nil || replayed {
			return err
		}
		return s.save(ctx, r, record)
	})
	if err != nil || replayed {
		return response, replayed, err
	}
	if response, err = work(ctx); err != nil {
		record.LeaseUntil = record.CreatedAt // the key is free again at once
		return ports.StoredResponse{}, false, errors.Join(err, s.finish(ctx, record))
	}
	return response, false, s.finish(ctx, s.completed(record, response))
}

// Sweep runs TaskSweep.
func (s *Service) Sweep(ctx context.Context, t ports.Task) error {
	now := s.clock.Real()
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Idempotency.DeleteBefore(ctx, now.Add(-ports.IdempotencyLifetime)); err != nil {
			return err
		}
		return r.Tasks.Postpone(ctx, t, now.Add(sweepInterval))
	})
}

func (s *Service) newRecord(request ports.IdempotentRequest) ports.IdempotencyRecord {
	return ports.IdempotencyRecord{
		CreatorID: request.CreatorID, Route: request.Route, Key: request.Key, BodyHash: request.Hash,
		CreatedAt: s.clock.Real(),
	}
}

func (s *Service) completed(record ports.IdempotencyRecord, response ports.StoredResponse) ports.IdempotencyRecord {
	record.Status, record.Body = response.Status, s.encrypter.Encrypt(response.Body)
	return record
}

// take takes a key for the transaction of its request, or returns the response that it has.
type take = func(ctx context.Context, r ports.Repos, want ports.IdempotencyRecord) (
	response ports.StoredResponse, found bool, err error)

// claimNew takes a key that has no record. ErrKeyTaken, perhaps with a later call.
func (s *Service) claimNew(
	ctx context.Context, r ports.Repos, want ports.IdempotencyRecord,
) (response ports.StoredResponse, found bool, err error) {
	return response, false, r.Idempotency.LockNew(ctx, want.CreatorID, want.Route, want.Key)
}

// claim refuses a key that is in use or bound to another request, and returns the response that a key has.
func (s *Service) claim(
	ctx context.Context, r ports.Repos, want ports.IdempotencyRecord,
) (response ports.StoredResponse, found bool, err error) {
	record, locked, err := r.Idempotency.Lock(ctx, want.CreatorID, want.Route, want.Key)
	switch {
	case err == nil && !locked:
		return response, false, errInProgress()
	case errors.Is(err, ports.ErrNotFound):
		return response, false, nil
	case err != nil:
		return response, false, err
	case record.CreatedAt.Before(want.CreatedAt.Add(-ports.IdempotencyLifetime)):
		return response, false, nil
	case record.Status != 0:
		if err := sameRequest(record, want); err != nil {
			return response, false, err
		}
		body, err := s.encrypter.Decrypt(record.Body)
		if err != nil {
			return response, false, fmt.Errorf("decrypt a stored response: %w", err)
		}
		return ports.StoredResponse{Status: record.Status, Body: body}, true, nil
	case !record.LeaseUntil.After(record.CreatedAt):
		return response, false, nil // it was refused and changed nothing: the key is free for any request
	}
	if err := sameRequest(record, want); err != nil {
		return response, false, err
	}
	if record.LeaseUntil.After(want.CreatedAt) {
		return response, false, errInProgress()
	}
	return response, false, nil // its process died, perhaps after its effect: the same request may go on
}

func errInProgress() error {
	inProgress := fault.New(
		fault.IdempotencyInProgress, "The first request with this Idempotency-Key is still running.",
	)
	inProgress.RetryAfter = time.Second
	return inProgress
}

func sameRequest(record, want ports.IdempotencyRecord) error {
	if subtle.ConstantTimeCompare(record.BodyHash, want.BodyHash) == 1 {
		return nil
	}
	return fault.New(
		fault.IdempotencyKeyMismatch,
		"This Idempotency-Key was used with another request. Use a new key for a new request.",
	)
}

func (s *Service) save(ctx context.Context, r ports.Repos, record ports.IdempotencyRecord) error {
	return r.Idempotency.Insert(ctx, record, record.CreatedAt.Add(-ports.IdempotencyLifetime))
}

// finish ends a lease with the response. A request that outlived its lease keeps the response to itself: the key is
// another request's by now.
func (s *Service) finish(ctx context.Context, record ports.IdempotencyRecord) error {
	err := s.store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		return r.Idempotency.Complete(ctx, record)
	})
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	return err
}
