package ports

import (
	"context"
	"time"

	"sundry/core/identity"
)

// IdentityRepos are the repositories of identity.
type IdentityRepos struct {
	Creators        Creators
	APIKeys         APIKeys
	RefreshFamilies RefreshFamilies
	WebSessions     WebSessions
	AccountEvents   AccountEvents
	Members         Members
	SecondSteps     SecondSteps
	RefundPolicies  RefundPolicies
	SavedFilters    SavedFilters
}

// Creators keeps the people who sell. It is the one repository that is not bound to an account: it is where accounts
// come from.
type Creators interface {
	// Insert stores a new creator. ErrDuplicate (creators_email) when the address is taken.
	Insert(ctx context.Context, c *identity.Creator) error
	// Exists reports whether there is a creator at all.
	Exists(ctx context.Context) (bool, error)
	// After lists the ids of up to limit creators behind an id, in order; "" begins.
	After(ctx context.Context, id string, limit int) ([]string, error)
	// Sole loads the only creator there is. ErrNotFound when there is none, or more than one.
	Sole(ctx context.Context) (*identity.Creator, error)
	// Get loads a creator. ErrNotFound.
	Get(ctx context.Context, id string) (*identity.Creator, error)
	// GetByEmail loads a creator by normalized address. ErrNotFound.
	GetByEmail(ctx context.Context, address string) (*identity.Creator, error)
	// Update stores a changed creator. ErrStale.
	Update(ctx context.Context, c *identity.Creator) error
}

// APIKeys keeps the secret keys of accounts.
type APIKeys interface {
	// Insert stores a new key.
	Insert(ctx context.Context, k *identity.APIKey) error
	// GetByHash finds a key, valid or not, of any account by its HMAC. ErrNotFound.
	GetByHash(ctx context.Context, hash []byte) (*identity.APIKey, error)
	// Get loads a key of the account, valid or not. ErrNotFound.
	Get(ctx context.Context, creatorID, id string) (*identity.APIKey, error)
	// Update stores a changed key. ErrStale.
	Update(ctx context.Context, k *identity.APIKey) error
	// List returns the account's keys that are not revoked, newest first.
	List(ctx context.Context, creatorID string, page Page) (List[*identity.APIKey], error)
	// Count returns the number of the account's keys that are neither revoked nor expired.
	Count(ctx context.Context, creatorID string, now time.Time) (int64, error)
	// Touch records that the key was in use at the given time, unless a later use is recorded.
	Touch(ctx context.Context, id string, at time.Time) error
}

// RefreshFamilies keeps the sign-ins that can be renewed.
type RefreshFamilies interface {
	// Insert stores a new family.
	Insert(ctx context.Context, f *identity.RefreshFamily) error
	// Get loads a family, living or not. ErrNotFound.
	Get(ctx context.Context, id string) (*identity.RefreshFamily, error)
	// Update stores a changed family. ErrStale.
	Update(ctx context.Context, f *identity.RefreshFamily) error
	// RevokeAll ends every family of the user.
	RevokeAll(ctx context.Context, u identity.User, at time.Time) error
	// DeleteExpired forgets the families whose token expired before the instant.
	DeleteExpired(ctx context.Context, before time.Time) error
}

// WebSessions keeps the browsers that are signed in.
type WebSessions interface {
	// Insert stores a new sign-in.
	Insert(ctx context.Context, w *identity.WebSession) error
	// Get loads a sign-in of any account, valid or not. ErrNotFound.
	Get(ctx context.Context, id string) (*identity.WebSession, error)
	// Update stores a changed sign-in. ErrStale.
	Update(ctx context.Context, w *identity.WebSession) error
	// ListValid returns the user's browsers that are signed in, newest first, at most limit.
	ListValid(ctx context.Context, u identity.User, now time.Time, limit int) ([]*identity.WebSession, error)
	// RevokeAll signs every browser of the user out, but the one with the given id.
	RevokeAll(ctx context.Context, u identity.User, except string, at time.Time) error
	// DeleteExpired forgets the sign-ins that expired before the instant.
	DeleteExpired(ctx context.Context, before time.Time) error
}

// Members keeps the people of accounts beside their owners.
type Members interface {
	// LockAddress keeps others from signing up or in with a normalized address, and from ending its sign-ins for
	// another password or second step, until the transaction ends.
	LockAddress(ctx context.Context, address string) error
	// Insert stores a new member. ErrDuplicate (members_creator_id_email) when the account has one with the address.
	Insert(ctx context.Context, m *identity.Member) error
	// Get loads a member of any account. ErrNotFound.
	Get(ctx context.Context, id string) (*identity.Member, error)
	// GetByEmail loads a member of any account who has joined by normalized address. ErrNotFound.
	GetByEmail(ctx context.Context, address string) (*identity.Member, error)
	// Find loads a member of the account, joined or invited, by normalized address. ErrNotFound.
	Find(ctx context.Context, creatorID, address string) (*identity.Member, error)
	// Update stores a changed member. ErrStale; ErrDuplicate (members_email) for one who joins with an address that
	// another member has.
	Update(ctx context.Context, m *identity.Member) error
	// List returns the account's members, joined and invited, newest first.
	List(ctx context.Context, creatorID string, page Page) (List[*identity.Member], error)
	// Count returns the number of the account's members, joined and invited.
	Count(ctx context.Context, creatorID string) (int64, error)
	// Delete forgets a member.
	Delete(ctx context.Context, m *identity.Member) error
}

// SecondSteps keeps what users show beside their passwords.
type SecondSteps interface {
	// Insert stores the first second step of a user. ErrDuplicate (second_steps) when there is one.
	Insert(ctx context.Context, s *identity.SecondStep) error
	// Get loads that of an owner or a member by the user's id. ErrNotFound.
	Get(ctx context.Context, userID string) (*identity.SecondStep, error)
	// Update stores a changed one. ErrStale.
	Update(ctx context.Context, s *identity.SecondStep) error
	// ListOf returns those of everybody in an account.
	ListOf(ctx context.Context, creatorID string) ([]*identity.SecondStep, error)
	// Delete forgets that of a user, if there is one.
	Delete(ctx context.Context, userID string) error
}

// RefundPolicies keeps the refund policies that creators had, which consents of buyers name.
type RefundPolicies interface {
	// Insert writes a policy of the account under its hash (checkout.PolicyHash), unless it is there.
	Insert(ctx context.Context, creatorID, hash, policy string, at time.Time) error
	// Get returns a policy of the account. ErrNotFound.
	Get(ctx context.Context, creatorID, hash string) (policy string, err error)
}

// SavedFilters keeps the filters of the dashboard's lists that users keep for themselves.
type SavedFilters interface {
	// Lock keeps other saves of the user from counting their filters until the transaction ends.
	Lock(ctx context.Context, u identity.User) error
	// Save writes a filter, over the one of the same list and name.
	Save(ctx context.Context, u identity.User, f identity.SavedFilter) error
	// List returns the user's filters of a list, by their names.
	List(ctx context.Context, u identity.User, list string) ([]identity.SavedFilter, error)
	// Delete forgets a filter, if there is one.
	Delete(ctx context.Context, u identity.User, list, name string) error
	// DeleteAll forgets every filter of the user.
	DeleteAll(ctx context.Context, u identity.User) error
}

// AccountEvents keeps the access logs.
type AccountEvents interface {
	// Insert writes a line.
	Insert(ctx context.Context, e identity.AccountEvent) error
	// List returns the account's lines of a kind ("" = all), newest first.
	List(ctx context.Context, creatorID string, kind identity.AccountEventKind,
		page Page) (List[identity.AccountEvent], error)
	// DeleteBefore forgets the lines of before the instant.
	DeleteBefore(ctx context.Context, before time.Time) error
}
