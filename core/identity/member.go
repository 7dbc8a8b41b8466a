package identity

import (
	"strconv"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
)

// MemberPrefix names a member of an account's team.
const MemberPrefix id.Prefix = "mbr"

// MemberInvitationLifetime bounds the time in which a member can accept.
const MemberInvitationLifetime = 7 * 24 * time.Hour

// User is a person who is signed in: the owner of an account, or a member of its team.
type User struct {
	CreatorID string
	// MemberID is "" for the owner.
	MemberID     string
	Email, Name  string
	Role         Role
	PasswordHash string
}

// ID returns the member's id, or the creator's for the owner.
func (u User) ID() string {
	if u.MemberID != "" {
		return u.MemberID
	}
	return u.CreatorID
}

// Label names a member in the access log; "" for the owner.
func (u User) Label() string {
	if u.MemberID == "" {
		return ""
	}
	return u.Name + " (" + u.Email + ")"
}

// Owner returns the owner of the account.
func (s CreatorState) Owner() User {
	return User{
		CreatorID: s.ID, Email: s.Email, Name: s.DisplayName, Role: RoleOwner, PasswordHash: s.PasswordHash,
	}
}

// MemberState is a member's data, as stores and views see it.
type MemberState struct {
	ID        string
	CreatorID string
	Email     string // normalized
	Name      string // "" until they have accepted
	Role      Role
	// PasswordHash is "" until they have accepted.
	PasswordHash string
	// ExpiresAt is the end of the invitation.
	ExpiresAt time.Time
	JoinedAt  time.Time // zero until they have accepted
	CreatedAt time.Time
	Revision  int64
}

// User returns the member as somebody who is signed in.
func (s MemberState) User() User {
	return User{
		CreatorID: s.CreatorID, MemberID: s.ID, Email: s.Email, Name: s.Name, Role: s.Role, PasswordHash: s.PasswordHash,
	}
}

// Member is a person whom the owner lets into the account, with an address and a password of their own.
type Member struct{ s MemberState }

// MemberRequest is an invitation as a request writes it.
type MemberRequest struct {
	Email string
	Role  Role
}

// Clean normalizes the address and lists everything that is wrong with the request.
func (r MemberRequest) Clean() (MemberRequest, error) {
	var f fault.Violations
	r.Email = checkAddress(&f, r.Email)
	checkRole(&f, r.Role)
	return r, f.Err()
}

// CheckMemberRole lists what is wrong with a role that a member is to have.
func CheckMemberRole(role Role) error {
	var f fault.Violations
	checkRole(&f, role)
	return f.Err()
}

// NewMember makes a member of a clean request, who has still to accept.
func NewMember(memberID, creatorID string, r MemberRequest, now time.Time) *Member {
	return &Member{MemberState{
		ID: memberID, CreatorID: creatorID, Email: r.Email, Role: r.Role, CreatedAt: now, Revision: 1,
		ExpiresAt: invitationEnd(now),
	}}
}

// invitationEnd is in whole seconds, as links have it.
func invitationEnd(now time.Time) time.Time {
	return now.Add(MemberInvitationLifetime).Truncate(time.Second)
}

// RestoreMember rebuilds a member from the stored state.
func RestoreMember(s MemberState) *Member { return &Member{s} }

// State returns a copy of the data.
func (m *Member) State() MemberState { return m.s }

// Joined reports whether the member has accepted.
func (m *Member) Joined() bool { return !m.s.JoinedAt.IsZero() }

// Invite renews an invitation with a role: links from before open nothing. EMAIL_TAKEN for a member who has joined.
func (m *Member) Invite(role Role, now time.Time) error {
	if m.Joined() {
		return fault.New(fault.EmailTaken, "This person is a member already.")
	}
	end := invitationEnd(now)
	if !end.After(m.s.ExpiresAt) {
		end = m.s.ExpiresAt.Add(time.Second)
	}
	m.s.Role, m.s.ExpiresAt = role, end
	m.s.Revision++
	return nil
}

// Join accepts the invitation.
func (m *Member) Join(name, passwordHash string, now time.Time) {
	m.s.Name, m.s.PasswordHash, m.s.JoinedAt = name, passwordHash, now
	m.s.Revision++
}

// SetRole changes the role; changed is false when it is the role already.
func (m *Member) SetRole(role Role) (changed bool) {
	if m.s.Role == role {
		return false
	}
	m.s.Role = role
	m.s.Revision++
	return true
}

// SetPassword replaces the password by that of its new hash.
func (m *Member) SetPassword(passwordHash string) {
	m.s.PasswordHash = passwordHash
	m.s.Revision++
}

// Joining is the input of a person who accepts an invitation.
type Joining struct{ Name, Password string }

// Clean trims the name and lists everything that is wrong with the input of the owner of an address.
func (j Joining) Clean(address string) (Joining, error) {
	var f fault.Violations
	j.Name = checkName(&f, "name", j.Name)
	CheckNewPassword(&f, "password", address, j.Password)
	return j, f.Err()
}

// MemberLink is the right to accept an invitation, once.
type MemberLink struct {
	MemberID  string    `json:"memberId"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Link returns the link of the invitation as it is now.
func (s MemberState) Link() MemberLink { return MemberLink{s.ID, s.ExpiresAt} }

// Subject returns the text that the link's MAC signs.
func (l MemberLink) Subject() string {
	return "member-invitation." + l.MemberID + "." + strconv.FormatInt(l.ExpiresAt.Unix(), 10)
}

// Text returns the link's part of an address: what it contains, and a MAC over it.
func (l MemberLink) Text(mac []byte) string {
	return signedText(id.Body(l.MemberID), l.ExpiresAt, mac)
}

// ParseMemberLink reads what a text claims to be, and the MAC that it shows for it.
func ParseMemberLink(text string) (l MemberLink, mac []byte, ok bool) {
	body, expires, mac, ok := parseSignedText(text)
	l = MemberLink{MemberID: string(MemberPrefix) + "_" + body, ExpiresAt: expires}
	return l, mac, ok && id.Valid(MemberPrefix, l.MemberID)
}

// Opens reports whether the link still accepts the invitation.
func (l MemberLink) Opens(m MemberState, now time.Time) bool {
	return m.JoinedAt.IsZero() && now.Before(m.ExpiresAt) && l.ExpiresAt.Equal(m.ExpiresAt)
}

// MemberInvitationMade is emitted when a person is to be mailed the link that lets them into an account.
type MemberInvitationMade struct {
	Link      MemberLink
	CreatorID string
	Email     string
	// By is the name of the account. Role is the invited person's role.
	By   string
	Role Role
	At   time.Time // real time
}

// EventName implements event.Event.
func (MemberInvitationMade) EventName() string { return "identity.member_invited" }

// IsMember reports whether an id is that of a member.
func IsMember(userID string) bool { return strings.HasPrefix(userID, string(MemberPrefix)+"_") }
