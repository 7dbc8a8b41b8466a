package identity

import (
	"context"
	"errors"
	"strings"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/quota"
	"sundry/ports"
)

// MemberInvitationURL implements ports.AccountLinks.
func (s *Service) MemberInvitationURL(l identity.MemberLink) string {
	return s.cfg.BaseURL + "/dashboard/join/" + l.Text(s.webDigest.sum(l.Subject()))
}

// InviteMember has an invitation mailed to an address. A person who is invited already gets another, with the new role;
// the link before opens nothing any more. VALIDATION_FAILED, FORBIDDEN for an owner invited by somebody else than an
// owner, EMAIL_TAKEN, LIMIT_REACHED, RATE_LIMITED.
func (s *Service) InviteMember(
	ctx context.Context, by identity.User, in identity.MemberRequest,
) (state identity.MemberState, err error) {
	in, err = in.Clean()
	if err == nil {
		err = by.Role.CheckManage(in.Role)
	}
	if err == nil {
		err = s.admit(ctx, "invite:account:"+by.CreatorID, s.limits.InvitationsPerAccount)
	}
	if err != nil {
		return state, err
	}
	now := s.deps.Clock.Real()
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		creator, err := getCreator(ctx, r, by.CreatorID)
		if err != nil {
			return err
		}
		if err := s.checkAddressFree(ctx, r, in.Email); err != nil {
			return err
		}
		member, err := r.Identity.Members.Find(ctx, by.CreatorID, in.Email)
		switch {
		case errors.Is(err, ports.ErrNotFound):
			member = identity.NewMember(s.deps.IDs.New(identity.MemberPrefix), by.CreatorID, in, now)
			err = s.insertMember(ctx, r, member)
		case err == nil:
			err = s.renewInvitation(ctx, r, by, member, in.Role)
		}
		if err != nil {
			return err
		}
		state = member.State()
		if err := s.log(ctx, r, memberEvent(identity.MemberInvited, state)); err != nil {
			return err
		}
		return s.deps.Bus.Publish(ctx, r, identity.MemberInvitationMade{
			Link: state.Link(), CreatorID: by.CreatorID, Email: state.Email, By: creator.State().DisplayName,
			Role: state.Role, At: now,
		})
	})
	if errors.Is(err, ports.ErrDuplicate) {
		return state, fault.Wrap(fault.EmailTaken, "This person is invited already.", err)
	}
	return state, err
}

func (s *Service) insertMember(ctx context.Context, r ports.Repos, m *identity.Member) error {
	creatorID := m.State().CreatorID
	err := s.deps.Standing.CheckLimit(ctx, r, creatorID, quota.Members, func() (int64, error) {
		n, err := r.Identity.Members.Count(ctx, creatorID)
		return n + 1, err
	})
	if err != nil {
		return err
	}
	return r.Identity.Members.Insert(ctx, m)
}

func (s *Service) renewInvitation(
	ctx context.Context, r ports.Repos, by identity.User, m *identity.Member, role identity.Role,
) error {
	if err := by.Role.CheckManage(m.State().Role); err != nil {
		return err
	}
	if err := m.Invite(role, s.deps.Clock.Real()); err != nil {
		return err
	}
	return r.Identity.Members.Update(ctx, m)
}

// checkAddressFree refuses an address that somebody signs in with. EMAIL_TAKEN.
func (s *Service) checkAddressFree(ctx context.Context, r ports.Repos, address string) error {
	_, err := s.findUser(ctx, r, address)
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return fault.New(fault.EmailTaken, "This email address has an account. Use another one.")
}

// findUser returns who signs in with a normalized address. ports.ErrNotFound.
func (s *Service) findUser(ctx context.Context, r ports.Repos, address string) (identity.User, error) {
	creator, err := r.Identity.Creators.GetByEmail(ctx, address)
	if err == nil {
		return creator.State().Owner(), nil
	}
	if !errors.Is(err, ports.ErrNotFound) {
		return identity.User{}, err
	}
	member, err := r.Identity.Members.GetByEmail(ctx, address)
	if err != nil {
		return identity.User{}, err
	}
	return member.State().User(), nil
}

// loadUser returns the user of a sign-in as they are now: the owner of an account, or a member who has joined.
// ports.ErrNotFound.
func loadUser(ctx context.Context, r ports.Repos, creatorID, memberID string) (identity.User, error) {
	if memberID == "" {
		creator, err := r.Identity.Creators.Get(ctx, creatorID)
		if err != nil {
			return identity.User{}, err
		}
		return creator.State().Owner(), nil
	}
	member, err := r.Identity.Members.Get(ctx, memberID)
	if err != nil {
		return identity.User{}, err
	}
	if member.State().CreatorID != creatorID || !member.Joined() {
		return identity.User{}, ports.ErrNotFound
	}
	return member.State().User(), nil
}

func memberEvent(kind identity.AccountEventKind, m identity.MemberState) identity.Audited {
	return identity.Audited{
		CreatorID: m.CreatorID, Kind: kind, ObjectID: m.ID, Note: m.Email + ", " + string(m.Role),
	}
}

// Members lists the account's members, joined and invited, newest first.
func (s *Service) Members(
	ctx context.Context, creatorID string, page ports.Page,
) (ports.List[*identity.Member], error) {
	return s.deps.Store.Read(ctx).Identity.Members.List(ctx, creatorID, page)
}

// Member returns a member of the account. NOT_FOUND, and FORBIDDEN for its owner, who is none.
func (s *Service) Member(ctx context.Context, creatorID, memberID string) (identity.MemberState, error) {
	m, err := getMember(ctx, s.deps.Store.Read(ctx), creatorID, memberID)
	if err != nil {
		return identity.MemberState{}, err
	}
	return m.State(), nil
}

func getMember(ctx context.Context, r ports.Repos, creatorID, memberID string) (*identity.Member, error) {
	if memberID == creatorID {
		return nil, fault.New(fault.Forbidden, "The account is this person's: they can't be changed or removed.")
	}
	m, err := r.Identity.Members.Get(ctx, memberID)
	return ports.Visible(m, err, err == nil && m.State().CreatorID == creatorID, "member")
}

// ChangeMember gives a member another role, which every sign-in has from its next request on. VALIDATION_FAILED,
// FORBIDDEN, NOT_FOUND.
func (s *Service) ChangeMember(
	ctx context.Context, by identity.User, memberID string, role identity.Role,
) (state identity.MemberState, err error) {
	if err := identity.CheckMemberRole(role); err != nil {
		return state, err
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		m, err := getMember(ctx, r, by.CreatorID, memberID)
		if err != nil {
			return err
		}
		if err := by.Role.CheckManage(m.State().Role, role); err != nil {
			return err
		}
		changed := m.SetRole(role)
		state = m.State()
		if !changed {
			return nil
		}
		if err := r.Identity.Members.Update(ctx, m); err != nil {
			return err
		}
		return s.log(ctx, r, memberEvent(identity.MemberChanged, state))
	})
	return state, err
}

// RemoveMember ends an invitation, or every sign-in of a member at once, and forgets them. FORBIDDEN, NOT_FOUND.
func (s *Service) RemoveMember(
	ctx context.Context, by identity.User, memberID string,
) (state identity.MemberState, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		m, err := getMember(ctx, r, by.CreatorID, memberID)
		if err != nil {
			return err
		}
		state = m.State()
		if err := by.Role.CheckManage(state.Role); err != nil {
			return err
		}
		if err := s.revokeAll(ctx, r, state.User(), ""); err != nil {
			return err
		}
		if err := r.Identity.SecondSteps.Delete(ctx, memberID); err != nil {
			return err
		}
		if err := r.Identity.SavedFilters.Lock(ctx, state.User()); err != nil {
			return err
		}
		if err := r.Identity.SavedFilters.DeleteAll(ctx, state.User()); err != nil {
			return err
		}
		if err := r.Identity.Members.Delete(ctx, m); err != nil {
			return err
		}
		return s.log(ctx, r, memberEvent(identity.MemberRemoved, state))
	})
	if err == nil {
		s.deps.Names.Release(ctx, ports.CreatorEmails, memberID)
	}
	return state, err
}

// CheckJoin returns whom a link invites, and the name of the account. NOT_FOUND for a link that is invalid, expired,
// revoked or used.
func (s *Service) CheckJoin(ctx context.Context, text string) (m identity.MemberState, account string, err error) {
	link, shown, ok := identity.ParseMemberLink(strings.TrimSpace(text))
	if !ok || !s.webDigest.made(shown, link.Subject()) {
		return m, "", fault.NotFound("link")
	}
	r := s.deps.Store.Read(ctx)
	found, err := r.Identity.Members.Get(ctx, link.MemberID)
	found, err = ports.Visible(found, err, err == nil && link.Opens(found.State(), s.deps.Clock.Real()), "link")
	if err != nil {
		return m, "", err
	}
	creator, err := getCreator(ctx, r, found.State().CreatorID)
	if err != nil {
		return m, "", err
	}
	return found.State(), creator.State().DisplayName, creator.CheckOpen()
}

// JoinBrowser accepts an invitation by its link and signs the member in: it returns the cookie. VALIDATION_FAILED,
// NOT_FOUND, EMAIL_TAKEN.
func (s *Service) JoinBrowser(
	ctx context.Context, text string, in identity.Joining, from identity.Client,
) (cookie string, err error) {
	checked, _, err := s.CheckJoin(ctx, text)
	if err != nil {
		return "", err
	}
	in, err = in.Clean(checked.Email)
	if err != nil {
		return "", err
	}
	hash, err := s.deps.Passwords.Hash(ctx, in.Password)
	if err != nil {
		return "", unlessBusy("hash password", err)
	}
	err = s.deps.Names.Claim(ctx, ports.CreatorEmails, checked.ID, checked.Email)
	if err == nil {
		err = s.join(ctx, checked, in.Name, hash, from, s.beginBrowser(from, &cookie))
	}
	if errors.Is(err, ports.ErrDuplicate) {
		err = fault.Wrap(fault.EmailTaken, "This email address has an account. Ask to be invited with another one.", err)
	}
	return cookie, err
}

// join makes a member of the person who was invited and signs them in, in one transaction.
func (s *Service) join(
	ctx context.Context, checked identity.MemberState, name, passwordHash string, from identity.Client, begin beginner,
) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		m, err := r.Identity.Members.Get(ctx, checked.ID)
		m, err = ports.Visible(m, err, err == nil && m.State().Revision == checked.Revision, "link")
		if err != nil {
			return err
		}
		if err := r.Identity.Members.LockAddress(ctx, checked.Email); err != nil {
			return err
		}
		if err := s.checkAddressFree(ctx, r, checked.Email); err != nil {
			return err
		}
		m.Join(name, passwordHash, s.deps.Clock.Real())
		if err := r.Identity.Members.Update(ctx, m); err != nil {
			return err
		}
		user := m.State().User()
		joined := memberEvent(identity.MemberJoined, m.State())
		if err := s.insertLine(ctx, r, identity.Actor{ID: user.ID(), Name: user.Label(), Client: from}, joined); err != nil {
			return err
		}
		return begin(ctx, r, user)
	})
}
