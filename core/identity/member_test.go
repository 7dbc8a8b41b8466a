package identity_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/id"
	"sundry/core/identity"
)

func memberID() string { return id.New(identity.MemberPrefix, [16]byte{4, 5, 6}) }

func invite(at time.Time) *identity.Member {
	request := identity.MemberRequest{Email: "bob@example.com", Role: identity.RoleSupport}
	return identity.NewMember(memberID(), "crt_1", request, at)
}

func TestAMemberJoinsByInvitation(t *testing.T) {
	t.Parallel()
	m := invite(noon.Add(999 * time.Millisecond))
	want := identity.MemberState{
		ID: memberID(), CreatorID: "crt_1", Email: "bob@example.com", Role: identity.RoleSupport,
		ExpiresAt: noon.Add(7 * day), CreatedAt: noon.Add(999 * time.Millisecond), Revision: 1,
	}
	if got := m.State(); got != want || m.Joined() {
		t.Fatalf("invited: %+v, want %+v", got, want)
	}
	joined := noon.Add(day)
	m.Join("Bob", "hash", joined)
	want.Name, want.PasswordHash, want.JoinedAt, want.Revision = "Bob", "hash", joined, 2
	if got := m.State(); got != want || !m.Joined() {
		t.Errorf("joined: %+v, want %+v", got, want)
	}
	if err := m.Invite(identity.RoleOwner, joined); !fault.Is(err, fault.EmailTaken) || m.State() != want {
		t.Errorf("invited again: %v, %+v", err, m.State())
	}
	if m.SetRole(identity.RoleSupport) || m.State() != want {
		t.Errorf("the role that they have changed %+v", m.State())
	}
	want.Role, want.Revision = identity.RoleAdmin, 3
	if !m.SetRole(identity.RoleAdmin) || m.State() != want {
		t.Errorf("another role: %+v, want %+v", m.State(), want)
	}
	want.PasswordHash, want.Revision = "other", 4
	if m.SetPassword("other"); m.State() != want {
		t.Errorf("another password: %+v, want %+v", m.State(), want)
	}
	user := identity.User{
		CreatorID: "crt_1", MemberID: memberID(), Email: "bob@example.com", Name: "Bob", Role: identity.RoleAdmin,
		PasswordHash: "other",
	}
	if got := m.State().User(); got != user || got.ID() != memberID() || got.Label() != "Bob (bob@example.com)" {
		t.Errorf("as user: %+v, want %+v", got, user)
	}
}

func TestOwner_IsTheCreator(t *testing.T) {
	t.Parallel()
	got := identity.CreatorState{ID: "crt_1", Email: "ada@example.com", DisplayName: "Ada", PasswordHash: "hash"}.Owner()
	want := identity.User{
		CreatorID: "crt_1", Email: "ada@example.com", Name: "Ada", Role: identity.RoleOwner, PasswordHash: "hash",
	}
	if got != want || got.ID() != "crt_1" || got.Label() != "" {
		t.Errorf("%+v called %q, want %+v", got, got.Label(), want)
	}
	if identity.IsMember(got.ID()) || !identity.IsMember(memberID()) {
		t.Error("owners are members, or members are not")
	}
}

func TestOnlyTheLastInvitationOpens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ again, ends time.Time }{
		"a day later":      {noon.Add(day), noon.Add(8 * day)},
		"in a second":      {noon.Add(time.Second), noon.Add(7*day + time.Second)},
		"in this second":   {noon.Add(time.Millisecond), noon.Add(7*day + time.Second)},
		"by another clock": {noon.Add(-day), noon.Add(7*day + time.Second)},
	} {
		m := invite(noon)
		first := m.State().Link()
		if err := m.Invite(identity.RoleAnalyst, c.again); err != nil {
			t.Fatal(err)
		}
		s := m.State()
		if s.Role != identity.RoleAnalyst || s.Revision != 2 || !s.ExpiresAt.Equal(c.ends) {
			t.Errorf("%s: %s until %v, want %v", name, s.Role, s.ExpiresAt, c.ends)
		}
		if first.Opens(s, noon) || !s.Link().Opens(s, noon) {
			t.Errorf("%s: the first link opens, or the second does not", name)
		}
	}
	m := invite(noon)
	link, end := m.State().Link(), m.State().ExpiresAt
	if !link.Opens(m.State(), end.Add(-1)) || link.Opens(m.State(), end) {
		t.Errorf("a link opens until %v", end)
	}
	if m.Join("Bob", "hash", noon); link.Opens(m.State(), noon) {
		t.Error("a link opens a second time")
	}
}

func TestMemberLink_IsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	link := invite(noon).State().Link()
	text := link.Text([]byte("mac"))
	got, mac, ok := identity.ParseMemberLink(text)
	if !ok || got != link || string(mac) != "mac" {
		t.Errorf("%q is %+v with %q, %v", text, got, mac, ok)
	}
	if want := "member-invitation." + memberID() + ".1773576000"; link.Subject() != want {
		t.Errorf("signed is %q, want %q", link.Subject(), want)
	}
	for _, bad := range []string{"", text + ".x", strings.Replace(text, ".", "", 1), "x" + text, text[1:], text + "\n",
		text + "!"} {
		if _, _, ok := identity.ParseMemberLink(bad); ok {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestMemberRequest_ListsEveryFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request identity.MemberRequest
		email   string
		faults  []string
	}{
		"a good one": {identity.MemberRequest{Email: " Bob@Example.com ", Role: "developer"}, "bob@example.com", nil},
		"nothing":    {identity.MemberRequest{}, "", []string{"email REQUIRED", "role NOT_ALLOWED"}},
		"no such role": {identity.MemberRequest{Email: "bob@example.com", Role: "boss"}, "bob@example.com",
			[]string{"role NOT_ALLOWED"}},
		"no such place": {identity.MemberRequest{Email: "bob", Role: "owner"}, "bob", []string{"email INVALID"}},
	} {
		got, err := c.request.Clean()
		if faults := faulttest.Lines(t, err); !slices.Equal(faults, c.faults) || got.Email != c.email ||
			got.Role != c.request.Role {
			t.Errorf("%s: %+v with %q, want %q with %q", name, got, faults, c.email, c.faults)
		}
	}
	for role, faults := range map[identity.Role][]string{"analyst": nil, "boss": {"role NOT_ALLOWED"}} {
		if got := faulttest.Lines(t, identity.CheckMemberRole(role)); !slices.Equal(got, faults) {
			t.Errorf("%s: %q, want %q", role, got, faults)
		}
	}
}

func TestJoining_ListsEveryFault(t *testing.T) {
	t.Parallel()
	got, err := identity.Joining{Name: " Bob ", Password: "ten chars!"}.Clean("bob@example.com")
	if err != nil || got.Name != "Bob" || got.Password != "ten chars!" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = identity.Joining{Password: "bob@example.com"}.Clean("bob@example.com")
	if faults := faulttest.Lines(t, err); !slices.Equal(faults, []string{"name REQUIRED", "password NOT_ALLOWED"}) {
		t.Errorf("refused for %q", faults)
	}
}
