package keyring

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"sundry/ports"
)

// Renew encrypts a value again with the key of its purpose that is in use. It returns nil when it is already.
type Renew func(purpose string, encrypted []byte) ([]byte, error)

// Rotate encrypts the stored keys under APP_SECRET where they are under the one before, makes a new generation of them,
// waits the overlap, until every process uses it, and encrypts again what is stored. Everything made before stays good.
// It may be repeated at any time, also after it was interrupted. report gets a line for each step.
func (r *Ring) Rotate(ctx context.Context, overlap time.Duration, renew Renew, report func(line string)) error {
	if err := r.rewrap(ctx); err != nil {
		return err
	}
	report("the keys are encrypted under APP_SECRET")
	from := r.config.Now().Add(overlap)
	if err := r.add(ctx, from, links, sealing, tokens); err != nil {
		return err
	}
	if err := r.Reload(ctx); err != nil {
		return err
	}
	report(fmt.Sprintf("new keys are stored, and used from %s on, when every process knows them",
		from.UTC().Format(time.RFC3339)))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(overlap):
	}
	if err := r.reencrypt(ctx, renew, report); err != nil {
		return err
	}
	return r.rewrap(ctx) // a process may have added one before it knew
}

// rewrap encrypts the keys under APP_SECRET.
func (r *Ring) rewrap(ctx context.Context) error {
	if err := r.Reload(ctx); err != nil {
		return err
	}
	keys := r.keys.Load()
	var again []ports.StoredKey
	for _, key := range keys.stored {
		root, err := r.unwrap(key)
		if err != nil {
			return err
		}
		if key.Wrapped, err = wrap(r.config.Secret, key, root); err != nil {
			return err
		}
		again = append(again, key)
	}
	if err := r.config.Store.RewrapKeys(ctx, again, hex.EncodeToString(Check(r.config.Secret))); err != nil {
		return err
	}
	return r.Reload(ctx)
}

// maxPasses bounds how often everything is looked at again because a process wrote with a former key meanwhile.
const maxPasses = 10

func (r *Ring) reencrypt(ctx context.Context, renew Renew, report func(line string)) error {
	total := 0
	for range maxPasses {
		changed, err := r.config.Store.Reencrypt(ctx, renew)
		if err != nil {
			return err
		}
		if total += changed; changed == 0 {
			report(fmt.Sprintf("encrypted again: %d values", total))
			return nil
		}
	}
	return errors.New("a process goes on encrypting with a former key: restart those that have run since before")
}

// Retire deletes the generations before the one in use, once nothing is encrypted with them any more. Links and access
// tokens that they made open nothing from then on.
func (r *Ring) Retire(ctx context.Context, renew Renew, report func(line string)) error {
	if err := r.Reload(ctx); err != nil {
		return err
	}
	if err := r.reencrypt(ctx, renew, report); err != nil {
		return err
	}
	now := r.config.Now()
	var past []ports.StoredKey
	for _, group := range []string{links, sealing, tokens} {
		inUse := false
		for _, g := range r.keys.Load().byGroup[group] {
			if inUse {
				past = append(past, ports.StoredKey{Group: group, Generation: g.number})
			}
			inUse = inUse || !g.from.After(now)
		}
	}
	if err := r.config.Store.DeleteKeys(ctx, past); err != nil {
		return err
	}
	report(fmt.Sprintf("deleted: %d former keys", len(past)))
	return r.Reload(ctx)
}
