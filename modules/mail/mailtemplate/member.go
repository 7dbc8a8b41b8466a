package mailtemplate

import "sundry/core/identity"

// KindMemberInvitation sends somebody the link that lets them into an account.
var KindMemberInvitation = define("identity.member_invitation", memberInvitation)

// MemberInvitation holds the data of that mail. Its link is made when the mail is rendered.
type MemberInvitation struct {
	Link identity.MemberLink `json:"link"`
	// By is the name of the account.
	By   string        `json:"by"`
	Role identity.Role `json:"role"`
}

func memberInvitation(site Site, to reader, m MemberInvitation) draft {
	by := oneLine(m.By)
	return draft{
		Subject: to.words("member.subject", by), Preview: to.words("member.preview"),
		Heading: to.words("member.heading", by),
		Lead:    []string{to.words("member.lead", by, to.words("member.role."+string(m.Role)))},
		Links:   []link{{to.words("member.open"), site.MemberInvitationURL(m.Link)}},
		After:   []string{to.words("member.after", by)}, Footer: to.words("member.footer", by),
	}
}
