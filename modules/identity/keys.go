package identity

import (
	"context"
	"errors"
	"time"

	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/quota"
	"sundry/ports"
)

// CreateKey makes an API key for the account, with scopes that the maker's role may give. The key itself is returned
// this once and kept nowhere. VALIDATION_FAILED, FORBIDDEN, LIMIT_REACHED.
func (s *Service) CreateKey(
	ctx context.Context, by identity.User, order identity.NewKeyRequest,
) (identity.APIKeyState, string, error) {
	creatorID, now := by.CreatorID, s.deps.Clock.Real()
	order, err := order.Clean(now)
	if err == nil {
		err = by.Role.CheckKey(order.Scopes)
	}
	if err != nil {
		return identity.APIKeyState{}, "", err
	}
	key := identity.NewKey(s.cfg.Live, s.deps.IDs.Cell(), s.deps.IDs.Random(identity.KeyEntropy))
	record := identity.IssueKey(s.deps.IDs.New(id.APIKey), creatorID, order, key, s.keyDigest.sum(key), now)
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		err := s.deps.Standing.CheckLimit(ctx, repos, creatorID, quota.APIKeys, func() (int64, error) {
			n, err := repos.Identity.APIKeys.Count(ctx, creatorID, now)
			return n + 1, err
		})
		if err != nil {
			return err
		}
		if err := repos.Identity.APIKeys.Insert(ctx, record); err != nil {
			return err
		}
		return s.log(ctx, repos, keyEvent(identity.KeyCreated, record.State()))
	})
	if err != nil {
		return identity.APIKeyState{}, "", err
	}
	return record.State(), key, nil
}

func keyEvent(kind identity.AccountEventKind, k identity.APIKeyState) identity.Audited {
	return identity.Audited{CreatorID: k.CreatorID, Kind: kind, ObjectID: k.ID, Note: k.Label()}
}

// ListKeys returns the account's keys that are not revoked, newest first.
func (s *Service) ListKeys(
	ctx context.Context, creatorID string, page ports.Page,
) (ports.List[*identity.APIKey], error) {
	return s.deps.Store.Read(ctx).Identity.APIKeys.List(ctx, creatorID, page)
}

// RevokeKey ends a key: at once in this process, within the cache's lifetime in every other. Revoking it again changes
// nothing. NOT_FOUND.
func (s *Service) RevokeKey(ctx context.Context, creatorID, keyID string) (identity.APIKeyState, error) {
	var state identity.APIKeyState
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		key, err := repos.Identity.APIKeys.Get(ctx, creatorID, keyID)
		if err != nil {
			return ports.Missing(err, "API key")
		}
		changed := key.Revoke(s.deps.Clock.Real())
		state = key.State()
		if !changed {
			return nil
		}
		if err := repos.Identity.APIKeys.Update(ctx, key); err != nil {
			return err
		}
		return s.log(ctx, repos, keyEvent(identity.KeyRevoked, state))
	})
	if err != nil {
		return identity.APIKeyState{}, err
	}
	s.keys.forget(digest(state.Hash))
	return state, nil
}

// AuthenticatedKey is an API key, its account and what it may do.
type AuthenticatedKey struct {
	KeyID, CreatorID string
	Scopes           identity.Scopes
	// Label is the name and the last characters of the key.
	Label string
}

// AuthenticateKey returns the key and its account. UNAUTHENTICATED for everything else: no key, a key of the other
// environment, unknown, expired, revoked.
//
// It runs before every request of an integrator, so it queries the database at most once in keyCacheLifetime per key.
func (s *Service) AuthenticateKey(ctx context.Context, key string) (AuthenticatedKey, error) {
	livemode, ok := identity.ParseKey(key)
	if !ok || livemode != s.cfg.Live {
		return AuthenticatedKey{}, unauthenticated()
	}
	hash := digest(s.keyDigest.sum(key))
	now := s.deps.Clock.Real()
	found, epoch, ok := s.keys.find(hash, now)
	if !ok {
		record, err := s.deps.Store.Read(ctx).Identity.APIKeys.GetByHash(ctx, hash[:])
		if errors.Is(err, ports.ErrNotFound) {
			return AuthenticatedKey{}, unauthenticated()
		}
		if err != nil {
			return AuthenticatedKey{}, err
		}
		if !record.Usable(now) {
			return AuthenticatedKey{}, unauthenticated()
		}
		found = s.keys.keep(hash, record.State(), epoch, now)
		s.recordUse(ctx, record, now)
	}
	if !found.end.IsZero() && !now.Before(found.end) {
		return AuthenticatedKey{}, unauthenticated()
	}
	return found.holder, nil
}

// recordUse notes the use of a key beside the request, which neither waits for it nor fails with it. One note is
// written at a time; one that is left out is made up for when the key is looked up next.
func (s *Service) recordUse(ctx context.Context, key *identity.APIKey, now time.Time) {
	if !key.UseIsStale(now) || !s.touching.CompareAndSwap(false, true) {
		return
	}
	s.touched.Go(func() {
		defer s.touching.Store(false)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = s.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
			return repos.Identity.APIKeys.Touch(ctx, key.State().ID, now)
		})
	})
}
