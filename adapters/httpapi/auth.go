package httpapi

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/quota"
	"sundry/ports"
)

// AuthMode is the kind of credential that a route takes.
type AuthMode int

// The modes of authentication.
const (
	// Public routes take no credential.
	Public AuthMode = iota
	// AccessToken routes take the access token (JWT) of a creator.
	AccessToken
	// SecretKey routes take an API key of the account.
	SecretKey
	// SecretKeyOrReturnToken lets a browser in with the return token of one checkout; a key that is sent must be valid.
	SecretKeyOrReturnToken
	// SecretKeyOrAccessToken routes take either: they are for programs and for people alike.
	SecretKeyOrAccessToken
)

// AuthenticatedKey is a valid API key.
type AuthenticatedKey struct {
	ID, CreatorID string
	// Scopes lists the key's permissions.
	Scopes identity.Scopes
	// Label is the name and the last characters of the key.
	Label string
}

// Authenticator checks credentials. Its errors are UNAUTHENTICATED or not the caller's fault.
type Authenticator interface {
	// AuthenticateToken returns the user that an access token was issued to.
	AuthenticateToken(ctx context.Context, token string) (identity.User, error)
	// AuthenticateKey returns the valid API key with its account.
	AuthenticateKey(ctx context.Context, key string) (AuthenticatedKey, error)
}

// Accounts decides whether the credential of an account may be used.
type Accounts interface {
	// CheckOpen refuses a suspended account. FORBIDDEN.
	CheckOpen(ctx context.Context, creatorID string) error
	// Count counts n uses of a resource per minute. RATE_LIMITED.
	Count(ctx context.Context, creatorID string, of quota.Resource, n int) error
}

// credentialNames describes the credential of each auth mode. The message of a 401 is the same whatever was wrong.
var credentialNames = map[AuthMode]string{
	AccessToken: "This route takes a creator's access token (JWT). Send a valid one in the header Authorization: Bearer <access token>.",
	SecretKey:   "This route takes a secret key of the account. Send a valid one in the header Authorization: Bearer <secret key>.",
	SecretKeyOrReturnToken: "This route takes a secret key of the account in the header Authorization: Bearer <secret key>, or the returnToken of " +
		"this checkout. Send a valid one.",
	SecretKeyOrAccessToken: "This route takes a secret key of the account or a creator's access token (JWT). Send a valid one in the header " +
		"Authorization: Bearer <credential>.",
}

// hideReason removes from an error everything by which UNAUTHENTICATED would reveal its reason. A public route has no
// credential of its own to name, and reports its refusals itself, such as one of a password.
func hideReason(c *fiber.Ctx, f *fault.Error) *fault.Error {
	mode, _ := c.Locals("authMode").(AuthMode)
	if f.Code == fault.Unauthenticated && mode != Public {
		return fault.New(fault.Unauthenticated, credentialNames[mode])
	}
	return f
}

// setRateLimit reports the limit as the IETF's draft has it (draft-ietf-httpapi-ratelimit-headers).
func setRateLimit(c *fiber.Ctx, limit int, taken ports.Quota) {
	c.Set("RateLimit-Policy", fmt.Sprintf(`"key";q=%d;w=%d`, limit, int(time.Minute.Seconds())))
	c.Set("RateLimit", fmt.Sprintf(`"key";r=%d;t=%d`, taken.Remaining, int(math.Ceil(taken.Reset.Seconds()))))
}

// Account returns the id of the creator whom the route's AuthMode authenticated; "" for none.
func Account(c *fiber.Ctx) string {
	id, _ := c.Locals("account").(string)
	return id
}

// User returns who is signed in with the access token of the request; nobody for an API key.
func User(c *fiber.Ctx) identity.User {
	user, _ := c.Locals("user").(identity.User)
	return user
}

// BearerToken returns the credential of the Authorization header, or "".
func BearerToken(c *fiber.Ctx) string {
	scheme, credential, ok := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(credential)
}

func (s *Server) authMiddleware(r Route) fiber.Handler {
	check := s.credentialCheck(r)
	return func(c *fiber.Ctx) error {
		c.Locals("authMode", r.Auth)
		if account, ok := c.Context().UserValue(insider{}).(string); ok {
			c.Locals("account", account)
			return c.Next()
		}
		return check(c)
	}
}

func (s *Server) credentialCheck(r Route) fiber.Handler {
	withToken, withKey := s.authenticate(s.authenticateToken(r)), s.authenticate(s.authenticateKey(r))
	switch r.Auth {
	case AccessToken:
		return withToken
	case SecretKey:
		return withKey
	case SecretKeyOrAccessToken:
		return func(c *fiber.Ctx) error {
			if strings.HasPrefix(BearerToken(c), "sk_") {
				return withKey(c)
			}
			return withToken(c)
		}
	case SecretKeyOrReturnToken:
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
			return err
		}
		c.Locals("account", creatorID)
		return c.Next()
	}
}

// authenticateToken checks the access token, and refuses it where the role of its user does not include the route, or
// where the account is suspended.
func (s *Server) authenticateToken(r Route) func(*fiber.Ctx) (creatorID string, err error) {
	enough := RolesFor(r)
	return func(c *fiber.Ctx) (string, error) {
		user, err := s.Auth.AuthenticateToken(c.UserContext(), BearerToken(c))
		if err != nil {
			return "", err
		}
		s.setActor(c, identity.Actor{ID: user.ID(), Name: user.Label()})
		c.Locals("user", user)
		if err := identity.CheckRole(user.Role, enough); err != nil {
			return "", err
		}
		return user.CreatorID, s.Accounts.CheckOpen(c.UserContext(), user.CreatorID)
	}
}

// setActor tells the use cases of a request who makes it, and from where.
func (s *Server) setActor(c *fiber.Ctx, a identity.Actor) {
	a.Client = identity.NewClient(s.clientAddress(c), c.Get(fiber.HeaderUserAgent))
	c.SetUserContext(ports.WithActor(c.UserContext(), a))
}

// clientAddress is ClientAddress, and "" where that is not known.
func (s *Server) clientAddress(c *fiber.Ctx) string {
	if s.ClientAddress == nil {
		return ""
	}
	return s.ClientAddress(c)
}

// authenticateKey checks the API key, counts it against the rate limits of the key and of the account, and refuses it
// where its scopes do not include the route, or where its account is suspended and the route is not for that.
func (s *Server) authenticateKey(r Route) func(*fiber.Ctx) (creatorID string, err error) {
	enough, expands := scopesFor(r), len(expansionsOf(r)) > 0
	return func(c *fiber.Ctx) (string, error) {
		key, err := s.Auth.AuthenticateKey(c.UserContext(), BearerToken(c))
		if err != nil {
			return "", err
		}
		setCaller(c, key.CreatorID)
		if expands {
			c.Locals("scopes", key.Scopes)
		}
		s.setActor(c, identity.Actor{ID: key.ID, Name: key.Label})
		if err := s.countRequest(c, key.ID); err != nil {
			return "", err
		}
		if err := s.Accounts.Count(c.UserContext(), key.CreatorID, quota.Requests, 1); err != nil {
			return "", err
		}
		if !key.Scopes.Allow(enough...) {
			return "", fault.Newf(fault.Forbidden, "This route takes a key with the scope %s.", scopeNames(enough))
		}
		if r.Method == fiber.MethodGet || r.WhileSuspended {
			return key.CreatorID, nil
		}
		return key.CreatorID, s.Accounts.CheckOpen(c.UserContext(), key.CreatorID)
	}
}

// countRequest counts a request against the rate limit of its key. RATE_LIMITED.
func (s *Server) countRequest(c *fiber.Ctx, keyID string) error {
	limit := s.RateLimitPerMinute
	if limit <= 0 {
		return nil
	}
	taken, err := s.RateLimiter.Allow(c.UserContext(), "key:"+keyID, limit, time.Minute)
	if err != nil {
		return err
	}
	setRateLimit(c, limit, taken)
	if taken.Wait > 0 {
		return fault.TooMany("Too many requests with this key. Wait as long as Retry-After specifies.", taken.Wait)
	}
	return nil
}
