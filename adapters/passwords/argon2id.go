// Package passwords hashes passwords with argon2id.
package passwords

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"sundry/ports"
)

// Cost sets the memory and the passes of a hash. A stored hash carries the cost it was made with, so raising it leaves
// old hashes good.
type Cost struct{ MemoryKiB, Passes uint32 }

// Recommended is OWASP's recommendation for argon2id.
var Recommended = Cost{MemoryKiB: 19 * 1024, Passes: 2}

const (
	lanes     = 1
	saltBytes = 16
	hashBytes = 32
)

// What a stored hash may demand: anything above is no hash of ours.
const (
	maxMemoryKiB = 256 * 1024
	maxPasses    = 16
)

// maxWait is the time that a caller waits for its turn.
const maxWait = 10 * time.Second

var _ ports.PasswordHasher = (*Argon2id)(nil)

// Argon2id implements ports.PasswordHasher. It hashes as many passwords at once as there are processors, so that a
// burst of sign-ins costs time and not memory.
type Argon2id struct {
	cost  Cost
	turns chan struct{}
}

// NewArgon2id returns a hasher whose new hashes have the cost.
func NewArgon2id(cost Cost) *Argon2id {
	return &Argon2id{cost: cost, turns: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// parameters are the part of a hash that describes how it was made.
type parameters struct {
	memory, passes uint32
	lanes          uint8
	salt           []byte
}

// Hash implements ports.PasswordHasher. The format is PHC's: $argon2id$v=19$m=19456,t=2,p=1$salt$hash.
func (a *Argon2id) Hash(ctx context.Context, password string) (string, error) {
	p := parameters{memory: a.cost.MemoryKiB, passes: a.cost.Passes, lanes: lanes, salt: make([]byte, saltBytes)}
	_, _ = rand.Read(p.salt) // never fails: crypto/rand aborts the program instead
	hash, err := a.derive(ctx, p, password, hashBytes)
	if err != nil {
		return "", err
	}
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.passes, p.lanes, encode(p.salt),
		encode(hash)), nil
}

// Matches implements ports.PasswordHasher.
func (a *Argon2id) Matches(ctx context.Context, hash, password string) (bool, error) {
	if hash == "" {
		_, err := a.Hash(ctx, password)
		return false, err
	}
	p, want, err := parse(hash)
	if err != nil {
		return false, err
	}
	got, err := a.derive(ctx, p, password, len(want))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

// derive waits for its turn and hashes. The password is normalized first: keyboards and systems spell the same
// letters in different code points.
func (a *Argon2id) derive(ctx context.Context, p parameters, password string, length int) ([]byte, error) {
	timeout := time.NewTimer(maxWait)
	defer timeout.Stop()
	select {
	case a.turns <- struct{}{}:
		defer func() { <-a.turns }()
	case <-timeout.C:
		return nil, ports.ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	size := uint32(length) //nolint:gosec // at most 64
	return argon2.IDKey(norm.NFKC.Bytes([]byte(password)), p.salt, p.passes, p.memory, p.lanes, size), nil
}

var errForeign = errors.New("not an argon2id hash of this program")

func parse(text string) (p parameters, hash []byte, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, nil, errForeign
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.passes, &p.lanes); err != nil {
		return p, nil, errForeign
	}
	if p.memory == 0 || p.memory > maxMemoryKiB || p.passes == 0 || p.passes > maxPasses || p.lanes == 0 {
		return p, nil, errForeign
	}
	p.salt, err = base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return p, nil, errForeign
	}
	hash, err = base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || len(hash) < 16 || len(hash) > 64 {
		return p, nil, errForeign
	}
	return p, hash, nil
}
