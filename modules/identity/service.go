// Package identity holds the use cases of sign-up, sign-in and API keys, and the two questions that every guarded
// route asks: whose access token, whose API key is this?
package identity

import (
	"sync"
	"sync/atomic"

	"sundry/core/identity"
	"sundry/ports"
)

// Config is what the module needs to know of its deployment.
type Config struct {
	Livemode bool
	// KeySecret and RefreshSecret key the HMACs under which API keys and refresh tokens are stored.
	KeySecret, RefreshSecret []byte
}

// Service is the module.
type Service struct {
	livemode  bool
	limits    identity.Limits
	store     ports.Store
	clock     ports.Clock
	ids       ports.IDs
	passwords ports.PasswordHasher
	tokens    ports.TokenSigner
	throttle  ports.Throttle

	keyDigest     digester
	refreshDigest digester
	keys          keyCache

	touching atomic.Bool // a use of a key is being recorded
	touched  sync.WaitGroup
}

// New returns the module over its ports.
func New(
	cfg Config, store ports.Store, clock ports.Clock, ids ports.IDs,
	passwords ports.PasswordHasher, tokens ports.TokenSigner, throttle ports.Throttle,
) *Service {
	return &Service{
		livemode: cfg.Livemode, limits: identity.LimitsFor(cfg.Livemode),
		store: store, clock: clock, ids: ids, passwords: passwords, tokens: tokens, throttle: throttle,
		keyDigest: newDigester(cfg.KeySecret), refreshDigest: newDigester(cfg.RefreshSecret),
		keys: newKeyCache(),
	}
}

// Close waits until nothing is being written any more.
func (s *Service) Close() error {
	s.touched.Wait()
	return nil
}
