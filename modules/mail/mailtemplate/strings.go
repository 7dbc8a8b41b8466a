package mailtemplate

import "sundry/core/locale"

// reader writes the texts of mails in the language and formats of the recipient.
type reader struct{ locale.Locale }

// words returns the text of mails with the key, its arguments filled in.
func (r reader) words(key string, args ...any) string { return r.Text("mail."+key, args...) }
