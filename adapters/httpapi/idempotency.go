package httpapi

import (
	"context"
	"crypto/sha256"
	"fmt"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi/strictjson"
	"sundry/core/fault"
	"sundry/ports"
)

// IdempotencyMode specifies how a route applies the Idempotency-Key header.
type IdempotencyMode int

const (
	// None ignores the header.
	None IdempotencyMode = iota
	// Transactional claims the key, works and stores the response in one transaction: for use cases that are one
	// transaction themselves.
	Transactional
	// Leased claims the key first and stores the response last: for use cases that call the card processor, which is
	// never done inside a transaction. If a request dies, its claim ends with its lease, so the use case must
	// tolerate another run.
	Leased
	// Permanent leaves keys to the use case, which stores them permanently and decides how a repeated one responds.
	// The key may be in the body too (TakeKey).
	Permanent
)

// maxIdempotencyKey is in characters.
const maxIdempotencyKey = 255

// idempotent runs the route's handler at most once per key. Only effects are stored: a 2xx, and a 402, which means that
// a card was tried. Every other refusal leaves the key free.
func (s *Server) idempotent(r Route) fiber.Handler {
	run := func(
		ctx context.Context, request ports.IdempotentRequest, work func(context.Context) (ports.StoredResponse, error),
	) (ports.StoredResponse, bool, error) {
		if r.Idempotency == Transactional {
			return s.Idempotency.Transactional(ctx, request, work)
		}
		return s.Idempotency.Leased(ctx, request, work)
	}
	return func(c *fiber.Ctx) error {
		request, ok, err := idempotentRequest(c, r)
		if err != nil {
			return err
		}
		if !ok {
			return r.Handle(c)
		}
		outside := c.UserContext()
		defer c.SetUserContext(outside)
		response, replayed, err := run(outside, request, func(ctx context.Context) (ports.StoredResponse, error) {
			c.SetUserContext(ctx) // the use case joins the transaction of Transactional
			return s.respond(c, r)
		})
		if err != nil {
			return err
		}
		if replayed {
			c.Set("Idempotent-Replayed", "true")
			c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
			c.Status(response.Status).Response().SetBody(response.Body)
		}
		return nil
	}
}

// respond runs the handler and returns the response to store, or the error of a refusal, which is not stored.
func (s *Server) respond(c *fiber.Ctx, r Route) (ports.StoredResponse, error) {
	err := recovered(c, r.Handle)
	if err != nil && r.Idempotency == Leased && StatusOf(err) == fiber.StatusPaymentRequired {
		err = s.handleError(c, err)
	}
	if err != nil {
		return ports.StoredResponse{}, err
	}
	return ports.StoredResponse{Status: c.Response().StatusCode(), Body: c.Response().Body()}, nil
}

// idempotentRequest reads the header and what its key is bound to; ok is false when there is no header.
func idempotentRequest(c *fiber.Ctx, r Route) (request ports.IdempotentRequest, ok bool, err error) {
	key, err := headerKey(c)
	if err != nil || key == "" {
		return request, false, err
	}
	if utf8.RuneCountInString(key) > maxIdempotencyKey {
		return request, false, fault.Invalid(fault.Detail{
			Field: "Idempotency-Key", Code: fault.DetailTooLong, Message: "Expected at most 255 characters.",
		})
	}
	h := sha256.New()
	h.Write([]byte(c.OriginalURL() + "\n"))
	h.Write(strictjson.Canonical(Body(c)))
	return ports.IdempotentRequest{CreatorID: Account(c), Route: r.Method + " " + r.Path, Key: key, Hash: h.Sum(nil)},
		true, nil
}

// headerKey reads the header, which is sent at most once and is text; "" for none. An empty one is refused: its sender
// believes that the request is protected.
func headerKey(c *fiber.Ctx) (string, error) {
	sent := c.Request().Header.PeekAll("Idempotency-Key")
	if len(sent) == 0 {
		return "", nil
	}
	key := c.Get("Idempotency-Key")
	var f fault.Violations
	switch {
	case len(sent) > 1:
		f.Add("Idempotency-Key", fault.DetailDuplicate, "Send the header once.")
	case key == "":
		f.Add("Idempotency-Key", fault.DetailRequired, "Send a key, or leave the header out.")
	case !Storable(key):
		f.Add("Idempotency-Key", fault.DetailMalformed, "Expected UTF-8 text without control characters.")
	}
	return key, f.Err()
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

// TakeKey takes the Idempotency-Key header for the key of a body that has none. A header that differs from the body's
// key is a fault.
func TakeKey(c *fiber.Ctx, inBody *string) error {
	header, err := headerKey(c)
	if err != nil {
		return err
	}
	switch {
	case *inBody == "":
		*inBody = header
	case header != "" && header != *inBody:
		return fault.Invalid(fault.Detail{
			Field: "Idempotency-Key", Code: fault.DetailInvalid,
			Message: "The header and idempotencyKey of the body differ.",
		})
	}
	return nil
}
