// Package identity holds the use cases of sign-up, sign-in and API keys, and authenticates access tokens and API keys
// for every guarded route.
package identity

import (
	"sync"
	"sync/atomic"

	"sundry/core/identity"
	"sundry/ports"
)

// Config holds the settings that differ between deployments.
type Config struct {
	Live bool
	// SignUps specifies who may create an account.
	SignUps identity.SignUps
	// BaseURL is the origin of the dashboard, absolute and without a trailing slash.
	BaseURL string
	// KeySecret and RefreshSecret key the HMACs under which API keys and refresh tokens are stored.
	KeySecret, RefreshSecret []byte
	// WebSecret keys the HMACs of browsers' cookies, of their forms and of the links that set a new password.
	WebSecret []byte
}

// Service is the module.
type Service struct {
	cfg           Config
	deps          Deps
	limits        identity.Limits
	keyDigest     digester
	refreshDigest digester
	webDigest     digester
	keys          keyCache
	touching      atomic.Bool // a use of a key is being recorded
	touched       sync.WaitGroup
}

// Deps holds the dependencies of the module.
type Deps struct {
	Store     ports.Store
	Clock     ports.Clock
	IDs       ports.IDs
	Passwords ports.PasswordHasher
	Tokens    ports.TokenSigner
	Limiter   ports.RateLimiter
	Bus       ports.Bus
	Standing  ports.AccountStanding
	// Encrypter encrypts the secrets of authenticator apps.
	Encrypter ports.Encrypter
	// Passkeys is nil where the deployment's address has no name, which passkeys need.
	Passkeys ports.Passkeys
	// Names keeps addresses unique over all cells.
	Names ports.UniqueNames
}

// New returns the module.
func New(cfg Config, d Deps) *Service {
	return &Service{
		cfg: cfg, deps: d, limits: identity.LimitsFor(cfg.Live), keyDigest: newDigester(cfg.KeySecret),
		refreshDigest: newDigester(cfg.RefreshSecret), webDigest: newDigester(cfg.WebSecret), keys: newKeyCache(),
	}
}

// Close waits until nothing is being written any more.
func (s *Service) Close() error {
	s.touched.Wait()
	return nil
}
