package httpapi

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
)

// Gate says who may pass.
type Gate int

// The gates of the specification's table "Authentication".
const (
	// Public asks for nothing.
	Public Gate = iota
	// Creator asks for the access token (JWT) of a creator.
	Creator
	// SecretKey asks for an API key of the account.
	SecretKey
	// KeyOrReturnToken lets a browser pass with the return token of one checkout; whoever shows a key must show a good one.
	KeyOrReturnToken
)

// errUnauthenticated is the same whatever was wrong (contract §2).
func errUnauthenticated() *fault.Error {
	return fault.New(fault.Unauthenticated, "Missing or invalid credentials. Send the header Authorization: Bearer <credential>.")
}

// refused is the error of a check of credentials, without what UNAUTHENTICATED would tell of the reason.
func refused(err error) error {
	if fault.Is(err, fault.Unauthenticated) {
		return errUnauthenticated()
	}
	return err
}

// account is whose request this is: the creator's id, set by the gate.
func account(c *fiber.Ctx) string {
	id, _ := c.Locals("account").(string)
	return id
}

// bearer is the credential of the Authorization header, or "".
func bearer(c *fiber.Ctx) string {
	scheme, credential, ok := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(credential)
}

func (s *Server) gate(g Gate) fiber.Handler {
	switch g {
	case Creator:
		return s.authenticate(func(c *fiber.Ctx) (string, error) { return s.Identity.AuthenticateToken(c.UserContext(), bearer(c)) })
	case SecretKey:
		return s.authenticate(s.admitKey)
	case KeyOrReturnToken:
		withKey := s.authenticate(s.admitKey)
		return func(c *fiber.Ctx) error {
			if c.Get(fiber.HeaderAuthorization) != "" {
				return withKey(c)
			}
			return c.Next() // the handler checks the token: it is bound to one session
		}
	case Public:
	}
	return func(c *fiber.Ctx) error { return c.Next() }
}

func (s *Server) authenticate(check func(*fiber.Ctx) (creatorID string, err error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		creatorID, err := check(c)
		if err != nil {
			return refused(err)
		}
		c.Locals("account", creatorID)
		return c.Next()
	}
}

// admitKey checks the API key and counts it against the rate limit.
func (s *Server) admitKey(c *fiber.Ctx) (string, error) {
	key, err := s.Identity.AuthenticateKey(c.UserContext(), bearer(c))
	if err != nil {
		return "", err
	}
	if limit := s.cfg.RateLimitPerMinute; limit > 0 {
		wait, err := s.throttle.Allow(c.UserContext(), "key:"+key.KeyID, limit, time.Minute)
		if err != nil {
			return "", err
		}
		if wait > 0 {
			f := fault.New(fault.RateLimited, "Too many requests with this key. Wait as Retry-After says.")
			f.RetryAfter = wait
			return "", f
		}
	}
	return key.CreatorID, nil
}
