package mailtemplate

import "sundry/core/identity"

// KindPasswordReset brings a creator the link that sets a new password.
const KindPasswordReset Kind = "identity.password_reset"

// PasswordReset is what that mail holds; its link is made when it is rendered.
type PasswordReset struct {
	Link identity.ResetLink `json:"link"`
}

func passwordReset(site Site, to reader, p PasswordReset) draft {
	return draft{
		Subject: to.words("password.subject"), Preview: to.words("password.preview"), Heading: to.words("password.heading"),
		Lead:  []string{to.words("password.lead")},
		Links: []link{{to.words("password.open"), site.PasswordResetURL(p.Link)}},
		After: []string{to.words("password.after")}, Footer: to.words("password.footer"),
	}
}
