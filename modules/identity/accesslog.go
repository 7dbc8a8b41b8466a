package identity

import (
	"context"
	"time"

	"sundry/core/customer"
	"sundry/core/identity"
	"sundry/ports"
)

// logSignIn writes a line of the account's access log about a sign-in or a password, in the caller's transaction.
func (s *Service) logSignIn(
	ctx context.Context, r ports.Repos, user identity.User, kind identity.AccountEventKind, from identity.Client,
) error {
	by, e := identity.Actor{Client: from}, identity.Audited{CreatorID: user.CreatorID, Kind: kind}
	if kind.BySelf() {
		by.ID, by.Name = user.ID(), user.Label()
	} else {
		e.ObjectID, e.Note = user.MemberID, user.Label()
	}
	return s.insertLine(ctx, r, by, e)
}

// log writes a line of the account's access log about what the actor of ctx did, in the caller's transaction.
func (s *Service) log(ctx context.Context, r ports.Repos, e identity.Audited) error {
	by, _ := ports.ActorOf(ctx)
	return s.insertLine(ctx, r, by, e)
}

func (s *Service) insertLine(ctx context.Context, r ports.Repos, by identity.Actor, e identity.Audited) error {
	return r.Identity.AccountEvents.Insert(ctx, identity.AccountEvent{
		ID: s.deps.IDs.New(identity.AccountEventPrefix), CreatorID: e.CreatorID, Kind: e.Kind, Actor: by,
		ObjectID: e.ObjectID, Note: e.Note, At: s.deps.Clock.Real(),
	})
}

// OnAudited records what the actor of the context did.
func (s *Service) OnAudited(ctx context.Context, r ports.Repos, e identity.Audited) error {
	return s.log(ctx, r, e)
}

// OnCustomerErased notes that a customer was erased, by id alone.
func (s *Service) OnCustomerErased(ctx context.Context, r ports.Repos, e customer.Erased) error {
	return s.log(ctx, r, identity.Audited{
		CreatorID: e.CreatorID, Kind: identity.CustomerErased, ObjectID: e.ID, Note: e.ID,
	})
}

// RecordExport records that the actor of ctx takes data of the account with them: that of an object, or, with objectID
// "", what the note names.
func (s *Service) RecordExport(ctx context.Context, creatorID, objectID, note string) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return s.log(ctx, r, identity.Audited{
			CreatorID: creatorID, Kind: identity.ExportTaken, ObjectID: objectID, Note: note,
		})
	})
}

// logFailure notes a wrong password or code beside the request, which takes no longer for an account that exists than
// for one that does not. The limits of sign-in bound how many there are.
func (s *Service) logFailure(
	ctx context.Context, user identity.User, kind identity.AccountEventKind, from identity.Client,
) {
	if user.CreatorID == "" {
		return
	}
	s.touched.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			return s.logSignIn(ctx, r, user, kind, from)
		})
	})
}

// AccessLog lists the events of the account, newest first; kind "" = everything.
func (s *Service) AccessLog(
	ctx context.Context, creatorID string, kind identity.AccountEventKind, page ports.Page,
) (ports.List[identity.AccountEvent], error) {
	return s.deps.Store.Read(ctx).Identity.AccountEvents.List(ctx, creatorID, kind, page)
}
