package mailtemplate

import "sundry/core/identity"

// KindPasswordReset sends a creator the link that sets a new password.
var KindPasswordReset = define("identity.password_reset", passwordReset)

// PasswordReset holds the data of that mail. Its link is made when the mail is rendered.
type PasswordReset struct {
	Link identity.ResetLink `json:"link"`
}

func passwordReset(site Site, to reader, p PasswordReset) draft {
	return draft{
		Subject: to.words("password.subject"), Preview: to.words("password.preview"),
		Heading: to.words("password.heading"),
		Lead:    []string{to.words("password.lead")},
		Links:   []link{{to.words("password.open"), site.PasswordResetURL(p.Link)}},
		After:   []string{to.words("password.after")}, Footer: to.words("password.footer"),
	}
}
