package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/ports"
)

// Once says how a route honours the Idempotency-Key header.
type Once int

const (
	// Repeatable routes ignore the header.
	Repeatable Once = iota
	// OnceInTransaction claims the key, works and stores the answer in one transaction: for use cases that are one
	// transaction themselves.
	OnceInTransaction
	// OnceLeased claims the key first and stores the answer last: for use cases that speak to the card processor, which
	// is never done inside a transaction. A claim whose request died ends with its lease, and the use case itself must
	// bear being run again.
	OnceLeased
)

const (
	idempotencyLease    = time.Minute
	idempotencyLifetime = 24 * time.Hour
	maxIdempotencyKey   = 255
)

// errReplayed carries a stored answer out of a transaction that has nothing to commit.
var errReplayed = errors.New("replayed")

// idempotencyScope reads the header and what it is bound to; ok is false when there is no header.
func (s *Server) idempotencyScope(c *fiber.Ctx, r Route) (record ports.IdempotencyRecord, ok bool, err error) {
	key := c.Get("Idempotency-Key")
	if key == "" {
		return record, false, nil
	}
	if len(key) > maxIdempotencyKey {
		return record, false, fault.Invalid(fault.Detail{Field: "Idempotency-Key", Code: "TOO_LONG", Message: "may have at most 255 characters"})
	}
	h := sha256.New()
	h.Write([]byte(c.OriginalURL() + "\n"))
	h.Write(c.Body())
	return ports.IdempotencyRecord{
		CreatorID: account(c), Route: r.Method + " " + r.Path, Key: key, BodyHash: h.Sum(nil), CreatedAt: s.clock.Real(),
	}, true, nil
}

// claim refuses a key that is in use or bound to another body, and replays one that was answered.
func (s *Server) claim(ctx context.Context, c *fiber.Ctx, repo ports.IdempotencyKeys, want ports.IdempotencyRecord) error {
	found, locked, err := repo.Claim(ctx, want.CreatorID, want.Route, want.Key)
	inProgress := fault.New(fault.IdempotencyInProgress, "The first request with this Idempotency-Key is still under way.")
	inProgress.RetryAfter = time.Second
	switch {
	case err == nil && !locked:
		return inProgress
	case errors.Is(err, ports.ErrNotFound):
		return nil
	case err != nil:
		return err
	case found.CreatedAt.Before(want.CreatedAt.Add(-idempotencyLifetime)):
		return nil
	case subtle.ConstantTimeCompare(found.BodyHash, want.BodyHash) == 0:
		return fault.New(fault.IdempotencyKeyMismatch, "This Idempotency-Key was used with another request. Use a new key for a new request.")
	case found.Status != 0:
		body, err := s.unseal(found.Body)
		if err != nil {
			return err
		}
		c.Set("Idempotent-Replayed", "true")
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		c.Status(found.Status)
		c.Response().SetBody(body)
		return errReplayed
	case found.LeaseUntil.After(want.CreatedAt):
		return inProgress
	}
	return nil
}

// sealed is the answer as it is kept. Some answers show what is encrypted or not stored at all everywhere else, such as a
// signing secret or the address of a checkout.
func (s *Server) sealed(c *fiber.Ctx) (status int, body []byte) {
	return c.Response().StatusCode(), s.cfg.Answers.Seal(c.Response().Body())
}

// unseal reads a kept answer, also one that a version before answers were sealed has left.
func (s *Server) unseal(kept []byte) ([]byte, error) {
	body, err := s.cfg.Answers.Open(kept)
	switch {
	case err == nil:
		return body, nil
	case json.Valid(kept):
		return kept, nil
	}
	return nil, fmt.Errorf("open a kept answer: %w", err)
}

// storable answers are kept: all but 5xx and 429.
func storable(status int) bool { return status < 500 && status != fiber.StatusTooManyRequests }

// answer runs the handler and leaves its answer, good or bad, in the response. The error it returns is one that must
// not be stored.
func (s *Server) answer(c *fiber.Ctx, handle fiber.Handler) error {
	err := recovered(c, handle)
	if err == nil {
		return nil
	}
	if f := asFault(err); !storable(statusOf[f.Code]) {
		return err
	}
	return s.handleError(c, err)
}

// recovered makes a panic of the handler its error, so that a defect does not keep the key for the rest of the lease.
func recovered(c *fiber.Ctx, handle fiber.Handler) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s %s panicked: %v", c.Method(), c.Route().Path, p)
		}
	}()
	return handle(c)
}

// onceInTransaction implements OnceInTransaction.
func (s *Server) onceInTransaction(r Route) fiber.Handler {
	return func(c *fiber.Ctx) error {
		record, ok, err := s.idempotencyScope(c, r)
		if err != nil {
			return err
		}
		if !ok {
			return r.Handle(c)
		}
		outside := c.UserContext()
		defer c.SetUserContext(outside)
		once := func(handle fiber.Handler) error {
			return s.store.Atomically(outside, func(ctx context.Context, repos ports.Repos) error {
				if err := s.claim(ctx, c, repos.IdempotencyKeys, record); err != nil {
					return err
				}
				c.SetUserContext(ctx) // the use case joins this transaction
				if err := handle(c); err != nil {
					return err
				}
				record.Status, record.Body = s.sealed(c)
				return s.save(ctx, repos, record)
			})
		}
		err = once(r.Handle)
		if f := asFault(err); err != nil && !errors.Is(err, errReplayed) && !isClaimRefusal(f) && storable(statusOf[f.Code]) {
			// The refusal has undone the work and the claim with it; the answer is kept by itself.
			err = once(func(c *fiber.Ctx) error { return s.handleError(c, f) })
		}
		if errors.Is(err, errReplayed) {
			return nil
		}
		return err
	}
}

// isClaimRefusal reports whether the key itself was refused: that is never the answer of the first request.
func isClaimRefusal(f *fault.Error) bool {
	return f.Code == fault.IdempotencyInProgress || f.Code == fault.IdempotencyKeyMismatch
}

func (s *Server) save(ctx context.Context, repos ports.Repos, record ports.IdempotencyRecord) error {
	return repos.IdempotencyKeys.Save(ctx, record, record.CreatedAt.Add(-idempotencyLifetime))
}

// onceLeased implements OnceLeased.
func (s *Server) onceLeased(r Route) fiber.Handler {
	return func(c *fiber.Ctx) error {
		record, ok, err := s.idempotencyScope(c, r)
		if err != nil {
			return err
		}
		if !ok {
			return r.Handle(c)
		}
		record.LeaseUntil = record.CreatedAt.Add(idempotencyLease)
		err = s.store.Atomically(c.UserContext(), func(ctx context.Context, repos ports.Repos) error {
			if err := s.claim(ctx, c, repos.IdempotencyKeys, record); err != nil {
				return err
			}
			return s.save(ctx, repos, record)
		})
		if errors.Is(err, errReplayed) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.answer(c, r.Handle); err != nil {
			record.LeaseUntil = record.CreatedAt // not stored: the key is free again at once
			return errors.Join(err, s.finish(c, record))
		}
		record.Status, record.Body = s.sealed(c)
		return s.finish(c, record)
	}
}

// finish ends a lease with the answer. Whoever outlived their lease keep the answer to themselves: the key is another
// request's by now.
func (s *Server) finish(c *fiber.Ctx, record ports.IdempotencyRecord) error {
	err := s.store.Atomically(context.WithoutCancel(c.UserContext()), func(ctx context.Context, repos ports.Repos) error {
		return repos.IdempotencyKeys.Finish(ctx, record)
	})
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	return err
}
