package mailtemplate

import "sundry/core/identity"

// KindEmailConfirmation sends a creator the link that confirms the address.
var KindEmailConfirmation = define("identity.email_confirmation", emailConfirmation)

// EmailConfirmation holds the data of that mail. Its link is made when the mail is rendered.
type EmailConfirmation struct {
	Link identity.ConfirmationLink `json:"link"`
}

func emailConfirmation(site Site, to reader, e EmailConfirmation) draft {
	return draft{
		Subject: to.words("confirmation.subject"), Preview: to.words("confirmation.preview"),
		Heading: to.words("confirmation.heading"),
		Lead:    []string{to.words("confirmation.lead")},
		Links:   []link{{to.words("confirmation.open"), site.EmailConfirmationURL(e.Link)}},
		After:   []string{to.words("confirmation.after")}, Footer: to.words("confirmation.footer"),
	}
}
