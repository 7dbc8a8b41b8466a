package ports

import (
	"context"

	"sundry/core/operator"
	"sundry/core/quota"
)

// OperatorRepos are the repositories of what operators decide.
type OperatorRepos struct {
	Accounts Accounts
	Limits   AccountLimits
	Actions  OperatorActions
}

// Accounts shows accounts to operators.
type Accounts interface {
	// List returns the accounts whose id, address or name contains text, newest first.
	List(ctx context.Context, text string, page Page) (List[operator.Account], error)
}

// AccountLimits keeps the limits that operators have set for accounts.
type AccountLimits interface {
	// List returns the account's limits of its own; 0 is no limit.
	List(ctx context.Context, creatorID string) (map[quota.Resource]int64, error)
	// Set stores a limit, in the place of the one before.
	Set(ctx context.Context, creatorID string, of quota.Resource, value int64) error
	// Delete returns to the default.
	Delete(ctx context.Context, creatorID string, of quota.Resource) error
	// Lock keeps everybody else from adding to the account's resource until the transaction ends.
	Lock(ctx context.Context, creatorID string, of quota.Resource) error
}

// OperatorActions keeps the record of what operators did. Nothing in it is changed or deleted.
type OperatorActions interface {
	// Insert adds an action.
	Insert(ctx context.Context, a operator.Action) error
	// List returns the actions, newest first; of one account, unless creatorID is empty.
	List(ctx context.Context, creatorID string, page Page) (List[operator.Action], error)
}

// AccountStanding decides what an account may do, by what operators decided about it; operator implements it.
type AccountStanding interface {
	// CheckSales refuses new sales of an account that may make none. A suspension by another process is seen two seconds
	// later. FORBIDDEN.
	CheckSales(ctx context.Context, creatorID string) error
	// CheckOpen refuses the owner and the keys of a suspended account, with the same delay. FORBIDDEN.
	CheckOpen(ctx context.Context, creatorID string) error
	// CheckLimit refuses to add to a resource in the caller's transaction. count returns how much the account would use
	// then; it is not called where there is no limit. LIMIT_REACHED.
	CheckLimit(ctx context.Context, r Repos, creatorID string, of quota.Resource, count func() (int64, error)) error
}

// AccountRates counts what accounts do per minute; operator implements it.
type AccountRates interface {
	Network
	// Count counts n uses of a resource. RATE_LIMITED.
	Count(ctx context.Context, creatorID string, of quota.Resource, n int) error
}
