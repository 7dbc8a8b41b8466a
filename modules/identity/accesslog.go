package identity

import (
	"context"
	"time"

	"sundry/core/customer"
	"sundry/core/identity"
	"sundry/ports"
)

// log writes a line of the account's access log in the caller's transaction.
func (s *Service) log(
	ctx context.Context, r ports.Repos, creatorID string, kind identity.AccountEventKind, from identity.Client,
	note string,
) error {
	return r.Identity.AccountEvents.Insert(ctx, identity.AccountEvent{
		ID: s.deps.IDs.New(identity.AccountEventPrefix), CreatorID: creatorID, Kind: kind, Client: from, Note: note,
		At: s.deps.Clock.Real(),
	})
}

// OnCustomerErased notes that a customer was erased, by id alone.
func (s *Service) OnCustomerErased(ctx context.Context, r ports.Repos, e customer.Erased) error {
	return s.log(ctx, r, e.CreatorID, identity.CustomerErased, identity.Client{}, e.ID)
}

// logFailure notes a wrong password beside the request, which takes no longer for an account that exists than for one
// that does not. The limits of sign-in bound how many there are.
func (s *Service) logFailure(ctx context.Context, creatorID string, from identity.Client) {
	if creatorID == "" {
		return
	}
	s.touched.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			return s.log(ctx, r, creatorID, identity.SignInFailed, from, "")
		})
	})
}

// AccessLog lists the events of the account, newest first; kind "" = everything.
func (s *Service) AccessLog(
	ctx context.Context, creatorID string, kind identity.AccountEventKind, page ports.Page,
) (ports.List[identity.AccountEvent], error) {
	return s.deps.Store.Read(ctx).Identity.AccountEvents.List(ctx, creatorID, kind, page)
}
