package dashboard

import (
	"context"
	"slices"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	core "sundry/core/identity"
	"sundry/ports"
)

func (r *Routes) mountTeam(at fiber.Router) {
	r.get(at, "/team", r.team)
	r.careful(at, "/team", r.inviteMember)
	r.careful(at, "/team/second-step", r.requireSecondStep)
	r.get(at, "/team/:id", r.member)
	r.careful(at, "/team/:id", r.changeMember)
	r.careful(at, "/team/:id/invite", r.inviteAgain)
	r.careful(at, "/team/:id/remove", r.removeMember)
}

// roleWords say what a role is for.
var roleWords = map[core.Role]ui.Words{
	core.RoleOwner: "Owner: everything", core.RoleAdmin: "Admin: everything but owners and the payout account",
	core.RoleSupport:   "Support: orders, customers, appointments and refunds",
	core.RoleAnalyst:   "Analyst: reads, changes nothing",
	core.RoleDeveloper: "Developer: API keys, webhooks and the catalog",
}

// roleNames are the roles in tables and in sentences.
var roleNames = map[core.Role]struct{ inTable, inSentence ui.Words }{
	core.RoleOwner: {"Owner", "owner"}, core.RoleAdmin: {"Admin", "admin"}, core.RoleSupport: {"Support", "support"},
	core.RoleAnalyst: {"Analyst", "analyst"}, core.RoleDeveloper: {"Developer", "developer"},
}

// roleField offers the roles that the user may give.
func roleField(v *visit, selected core.Role) ui.Field {
	f := ui.Field{Name: "role", Label: "Role", Type: "select"}
	for _, role := range core.Roles() {
		if v.User.Role.CheckManage(role) == nil {
			f.Options = append(f.Options, ui.Option{
				Value: string(role), Label: roleWords[role], Selected: role == selected,
			})
		}
	}
	return f
}

func inviteForm(v *visit) ui.Form {
	f := v.form("invite", base+"/team", "Send invitation",
		ui.Field{
			Name: "email", Label: "Email", Type: "email", Required: true, Autocomplete: "off",
			Hint: "It must not be that of another account.",
		},
		roleField(v, core.RoleSupport))
	f.Title, f.Lead = "Invite somebody", "We’ll email a link that works for seven days. They set a password of their own."
	return f
}

// teamPage lists the members and says what each role may do.
func (r *Routes) teamPage(c *fiber.Ctx, v *visit) (ui.Page, error) {
	p := ui.Page{Nav: base + "/team", Title: "Team", Lead: "Who works in this account beside you, and what they may do."}
	t := ui.Table{Label: "Team", Heads: []ui.Head{
		{Label: "Person"}, {Label: "Role"}, {Label: "State"}, {Label: "Two-step sign-in"}, {Label: "Since"},
	}}
	steps, err := r.Identity.SecondStepsOn(c.UserContext(), v.account())
	if err != nil {
		return p, err
	}
	t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
		{Text: ui.Data(v.Creator.DisplayName), Sub: ui.Data(v.Creator.Email)}, ui.Label("Owner"),
		ui.Badge("Account", "ok"), stepBadge(steps[v.account()]), v.moment(v.Creator.CreatedAt),
	}})
	members, err := ports.AllPages(func(page ports.Page) (ports.List[*core.Member], error) {
		return r.Identity.Members(c.UserContext(), v.account(), page)
	})
	if err != nil {
		return p, err
	}
	for _, m := range members {
		t.Rows = append(t.Rows, memberRow(v, m, steps[m.State().ID]))
	}
	p.Parts = []ui.Part{ui.TablePart("", t), requireStepPart(v)}
	return p, nil
}

func memberRow(v *visit, m *core.Member, secondStep bool) ui.Row {
	s := m.State()
	name := ui.TextLink(s.Email, base+"/team/"+s.ID)
	if s.Name != "" {
		name.Text, name.Sub = ui.Data(s.Name), ui.Data(s.Email)
	}
	return ui.Row{Cells: []ui.Cell{
		name, ui.Label(roleNames[s.Role].inTable), memberBadge(m), stepBadge(secondStep), v.moment(s.CreatedAt),
	}}
}

func memberBadge(m *core.Member) ui.Cell {
	if m.Joined() {
		return ui.Badge("Active", "ok")
	}
	return ui.Badge("Invited", "wait")
}

// rolesPart is the table of who may do what.
func rolesPart() ui.Part {
	t := ui.Table{Label: "What each role may do", Heads: []ui.Head{{Label: "Area"}}}
	for _, role := range core.Roles() {
		t.Heads = append(t.Heads, ui.Head{Label: roleNames[role].inTable})
	}
	for _, area := range core.Areas() {
		row := ui.Row{Cells: []ui.Cell{ui.Label(ui.Words(area.Name))}}
		for _, role := range core.Roles() {
			row.Cells = append(row.Cells, ui.Label(mayWords(area, role)))
		}
		t.Rows = append(t.Rows, row)
	}
	return ui.TablePart("What each role may do", t)
}

func mayWords(area core.Area, role core.Role) ui.Words {
	switch {
	case slices.Contains(area.Change, role):
		return "Change"
	case slices.Contains(area.Read, role):
		return "Read"
	}
	return "–"
}

func (r *Routes) team(c *fiber.Ctx, v *visit) error {
	p, err := r.teamPage(c, v)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, ui.FormPart(inviteForm(v)), rolesPart())
	return r.send(c, v, p)
}

func (r *Routes) inviteMember(c *fiber.Ctx, v *visit) error {
	in := ui.ReadInput(c)
	m, err := r.Identity.InviteMember(c.UserContext(), v.User, core.MemberRequest{
		Email: in.Text("email"), Role: core.Role(in.Text("role")),
	})
	if err == nil {
		return r.done(c, base+"/team", v.say("An invitation is on its way to %s.", m.Email))
	}
	p, pageErr := r.teamPage(c, v)
	if pageErr != nil {
		return pageErr
	}
	return r.again(c, v, p, inviteForm(v), err)
}

func (r *Routes) loadMember(ctx context.Context, v *visit, id string) (*core.Member, error) {
	s, err := r.Identity.Member(ctx, v.account(), id)
	return core.RestoreMember(s), err
}

func memberPage(v *visit, m *core.Member) ui.Page {
	s := m.State()
	badge := memberBadge(m)
	p := ui.Page{
		Nav: base + "/team", Title: ui.Data(s.Email), Badge: &badge,
		Up: &ui.Action{Label: "Team", Href: base + "/team"},
	}
	facts := []ui.Fact{{Label: "Email", Value: ui.Text(s.Email)}, {Label: "ID", Value: ui.Copyable(s.ID)}}
	if m.Joined() {
		p.Title = ui.Data(s.Name)
		facts = append(facts, ui.Fact{Label: "Joined", Value: v.moment(s.JoinedAt)})
	} else {
		p.Actions = append(p.Actions, v.button("Send again", base+"/team/"+s.ID+"/invite"))
		facts = append(facts, ui.Fact{Label: "Invitation ends", Value: v.moment(s.ExpiresAt)})
	}
	p.Actions = append(p.Actions, v.button("Remove", base+"/team/"+s.ID+"/remove").Confirm(
		"They are signed out everywhere at once, and can’t sign in again.",
	))
	p.Parts = []ui.Part{ui.Facts("", facts...)}
	return p
}

func memberForm(v *visit, m *core.Member) ui.Form {
	f := v.form("role", base+"/team/"+m.State().ID, "Save role", roleField(v, m.State().Role))
	f.Title, f.Lead = "Role", "It holds from their next click or request on."
	return f.OfStored()
}

func (r *Routes) member(c *fiber.Ctx, v *visit) error {
	m, err := r.loadMember(c.UserContext(), v, c.Params("id"))
	if err != nil {
		return err
	}
	p := memberPage(v, m)
	if v.User.Role.CheckManage(m.State().Role) == nil {
		p.Parts = append(p.Parts, ui.FormPart(memberForm(v, m)))
		if r.Sandbox != nil && !m.Joined() {
			link := ui.CodePart("Invitation", "invitation", r.Identity.MemberInvitationURL(m.State().Link()))
			link.Lead = "It is mailed to them. In the sandbox, where mails may go nowhere, you can open it yourself."
			p.Parts = append(p.Parts, link)
		}
	} else {
		p.Actions = nil
	}
	return r.send(c, v, p)
}

func (r *Routes) changeMember(c *fiber.Ctx, v *visit) error {
	m, err := r.loadMember(c.UserContext(), v, c.Params("id"))
	if err != nil {
		return err
	}
	f := memberForm(v, m)
	if err := f.CheckStored(c); err != nil {
		return r.again(c, v, memberPage(v, m), f, err)
	}
	role := core.Role(ui.ReadInput(c).Text("role"))
	_, err = r.Identity.ChangeMember(c.UserContext(), v.User, c.Params("id"), role)
	return r.result(c, base+"/team", err, "The role is saved.")
}

func (r *Routes) inviteAgain(c *fiber.Ctx, v *visit) error {
	m, err := r.loadMember(c.UserContext(), v, c.Params("id"))
	if err != nil {
		return err
	}
	s := m.State()
	in := core.MemberRequest{Email: s.Email, Role: s.Role}
	_, err = r.Identity.InviteMember(c.UserContext(), v.User, in)
	return r.result(c, base+"/team", err, v.say(
		"Another invitation is on its way to %s. The link before no longer works.", s.Email))
}

func (r *Routes) removeMember(c *fiber.Ctx, v *visit) error {
	m, err := r.Identity.RemoveMember(c.UserContext(), v.User, c.Params("id"))
	return r.result(c, base+"/team", err, v.say("%s is removed.", m.Email))
}

func joinForm(c *fiber.Ctx, token, address string) ui.Form {
	return ui.Form{
		ID: "join", Action: base + "/join/" + c.Params("link"), Token: token, Submit: "Join", Wide: true,
		Fields: []ui.Field{
			{Name: "email", Label: "Email", Type: "email", Value: address, Autocomplete: "username", ReadOnly: true},
			{Name: "name", Label: "Your name", Value: c.FormValue("name"), Autocomplete: "name", Required: true},
			{
				Name: "password", Label: "Password", Type: "password", Autocomplete: "new-password", Required: true,
				Hint: "At least 10 characters.",
			},
		},
	}
}

func (r *Routes) showJoin(c *fiber.Ctx, token string) error { return r.joinPage(c, token, nil) }

// joinPage shows the form of an invitation, with a refusal of what was sent.
func (r *Routes) joinPage(c *fiber.Ctx, token string, refused error) error {
	m, account, err := r.Identity.CheckJoin(c.UserContext(), c.Params("link"))
	if fault.Is(err, fault.NotFoundCode) {
		c.Status(fiber.StatusNotFound)
		return r.sendGuest(c, "joinover.html", "This invitation no longer works", guestView{})
	}
	if err != nil {
		return err
	}
	f := joinForm(c, token, m.Email)
	if refused != nil {
		if !f.Refuse(refused) {
			return refused
		}
		c.Status(r.layout.Config().StatusOf(refused))
	}
	return r.sendGuest(c, "join.html", ui.Data(ui.Words("Join %s").In(reader(c).Language, account)), guestView{
		Form: f, Account: account, Role: roleNames[m.Role].inSentence,
	})
}

func (r *Routes) join(c *fiber.Ctx, token string) error {
	in := core.Joining{Name: c.FormValue("name"), Password: c.FormValue("password")}
	cookie, err := r.Identity.JoinBrowser(c.UserContext(), c.Params("link"), in, r.client(c))
	if err != nil {
		return r.joinPage(c, token, err)
	}
	return r.enter(c, cookie)
}
