package mail

import (
	"context"
	"fmt"

	"sundry/core/apiformat"
	"sundry/core/identity"
	"sundry/core/webhook"
	"sundry/modules/mail/mailtemplate"
	"sundry/ports"
)

// OnEndpointDisabled enqueues a mail to the owner of a webhook endpoint that was disabled. The endpoint's revision
// names this time of several.
func (s *Service) OnEndpointDisabled(ctx context.Context, r ports.Repos, e webhook.Disabled) error {
	name, address, err := s.deps.Accounts.Account(ctx, r, e.CreatorID)
	if err != nil {
		return err
	}
	cause := fmt.Sprintf("%s/%d", e.ID, e.Revision)
	return s.enqueue(ctx, r, newDraft(e.CreatorID, mailtemplate.KindEndpointDisabled, cause, recipient{address, name},
		mailtemplate.EndpointDisabledOf(e, name)))
}

// OnPasswordResetAsked mails a creator the link that sets a new password.
func (s *Service) OnPasswordResetAsked(ctx context.Context, r ports.Repos, e identity.PasswordResetAsked) error {
	return s.enqueue(ctx, r, newDraft(e.Link.CreatorID, mailtemplate.KindPasswordReset, apiformat.Instant(e.At),
		recipient{e.Email, e.Name}, mailtemplate.PasswordReset{Link: e.Link}))
}

// OnEmailConfirmationAsked mails a creator the link that confirms the address.
func (s *Service) OnEmailConfirmationAsked(
	ctx context.Context, r ports.Repos, e identity.EmailConfirmationAsked,
) error {
	return s.enqueue(ctx, r, newDraft(e.Link.CreatorID, mailtemplate.KindEmailConfirmation, apiformat.Instant(e.At),
		recipient{e.Email, e.Name}, mailtemplate.EmailConfirmation{Link: e.Link}))
}

// OnSecondStepChanged tells a user that their two-step sign-in has changed.
func (s *Service) OnSecondStepChanged(ctx context.Context, r ports.Repos, e identity.SecondStepChanged) error {
	cause := e.UserID + "/" + string(e.Change) + "/" + apiformat.Instant(e.At)
	return s.enqueue(ctx, r, newDraft(e.CreatorID, mailtemplate.KindSecondStep, cause, recipient{e.Email, e.Name},
		mailtemplate.SecondStep{Change: e.Change, Note: e.Note}))
}

// OnMemberInvitationMade mails somebody the link that lets them into an account.
func (s *Service) OnMemberInvitationMade(
	ctx context.Context, r ports.Repos, e identity.MemberInvitationMade,
) error {
	cause := e.Link.MemberID + "/" + apiformat.Instant(e.Link.ExpiresAt)
	return s.enqueue(ctx, r, newDraft(e.CreatorID, mailtemplate.KindMemberInvitation, cause, recipient{address: e.Email},
		mailtemplate.MemberInvitation{Link: e.Link, By: e.By, Role: e.Role}))
}
