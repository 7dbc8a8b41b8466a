package identity

import (
	"context"
	"errors"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/operator"
	"sundry/ports"
)

// EmailConfirmationURL implements ports.AccountLinks.
func (s *Service) EmailConfirmationURL(l identity.ConfirmationLink) string {
	return s.cfg.BaseURL + "/dashboard/confirm/" + l.Text(s.webDigest.sum(l.Subject()))
}

// askConfirmation has a link mailed that confirms the creator's address.
func (s *Service) askConfirmation(ctx context.Context, r ports.Repos, creator identity.CreatorState) error {
	now := s.deps.Clock.Real()
	return s.deps.Bus.Publish(ctx, r, identity.EmailConfirmationAsked{
		Link:  identity.ConfirmationLink{CreatorID: creator.ID, ExpiresAt: now.Add(identity.ConfirmationLifetime)},
		Email: creator.Email, Name: creator.DisplayName, At: now,
	})
}

// AskEmailConfirmation has another link mailed, unless the address is confirmed. RATE_LIMITED.
func (s *Service) AskEmailConfirmation(ctx context.Context, creatorID string) error {
	if err := s.admit(ctx, "confirm:account:"+creatorID, s.limits.ResetPerAccount); err != nil {
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		creator, err := getCreator(ctx, r, creatorID)
		if err != nil || !creator.State().EmailUnconfirmed {
			return err
		}
		return s.askConfirmation(ctx, r, creator.State())
	})
}

// CheckConfirmation returns the creator whose address a link confirms. NOT_FOUND for one that is invalid or expired.
func (s *Service) CheckConfirmation(ctx context.Context, text string) (identity.CreatorState, error) {
	link, shown, ok := identity.ParseConfirmationLink(text)
	if !ok || !s.webDigest.made(shown, link.Subject()) || !s.deps.Clock.Real().Before(link.ExpiresAt) {
		return identity.CreatorState{}, fault.NotFound("link")
	}
	creator, err := s.deps.Store.Read(ctx).Identity.Creators.Get(ctx, link.CreatorID)
	if err != nil {
		return identity.CreatorState{}, ports.Missing(err, "link")
	}
	return creator.State(), nil
}

// ConfirmEmail confirms an address by a link. Again, it changes nothing. NOT_FOUND.
func (s *Service) ConfirmEmail(ctx context.Context, text string) error {
	checked, err := s.CheckConfirmation(ctx, text)
	if err != nil {
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		creator, err := r.Identity.Creators.Get(ctx, checked.ID)
		if err != nil || !creator.ConfirmEmail() {
			return err
		}
		return r.Identity.Creators.Update(ctx, creator)
	})
}

// Invite returns the page on which the owner of an address makes an account, whatever the sign-ups, unless they are
// closed. who is recorded. VALIDATION_FAILED, EMAIL_TAKEN.
func (s *Service) Invite(ctx context.Context, who, address string) (page string, err error) {
	if address, err = parseAddress(address); err != nil {
		return "", err
	}
	now := s.deps.Clock.Real()
	invitation := identity.Invitation{Email: address, ExpiresAt: now.Add(identity.InvitationLifetime)}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		_, err := r.Identity.Creators.GetByEmail(ctx, address)
		if err == nil {
			return fault.New(fault.EmailTaken, "An account with this email address exists.")
		}
		if !errors.Is(err, ports.ErrNotFound) {
			return err
		}
		return r.Operator.Actions.Insert(ctx, operator.Action{
			ID: s.deps.IDs.New(operator.ActionPrefix), Operator: who, Kind: operator.Invited, Note: address, At: now,
		})
	})
	text := invitation.Text(s.webDigest.sum(invitation.Subject()))
	return s.cfg.BaseURL + "/dashboard/sign-up?invitation=" + text, err
}

// Invited returns the address that an invitation is for; "" for an invitation that is none or has expired.
func (s *Service) Invited(text string) string {
	invitation, shown, ok := identity.ParseInvitation(text)
	if !ok || !s.webDigest.made(shown, invitation.Subject()) || !s.deps.Clock.Real().Before(invitation.ExpiresAt) {
		return ""
	}
	return invitation.Email
}

// admitRegistration decides who may make an account. confirmed is that the address needs no mail to confirm it.
// FORBIDDEN.
func (s *Service) admitRegistration(r identity.Registration) (confirmed bool, err error) {
	switch {
	case s.cfg.SignUps == identity.SignUpsClosed:
		return false, fault.New(fault.Forbidden, "This service takes no new accounts. Ask its operator.")
	case r.Invitation != "":
		if s.Invited(r.Invitation) != r.Email {
			return false, fault.New(fault.Forbidden,
				"This invitation is for another email address, or no longer valid. Ask the operator of this service.")
		}
		return true, nil
	case s.cfg.SignUps == identity.SignUpsInvite:
		return false, fault.New(fault.Forbidden,
			"This service takes new accounts by invitation only. Ask its operator for one.")
	}
	return !s.cfg.Live, nil
}
