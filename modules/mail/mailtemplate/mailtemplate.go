// Package mailtemplate renders mails: from the data of an event it makes a subject and one body as text and as HTML.
// A new mail is a Kind with the function that fills its draft, and its strings in core/locale.
package mailtemplate

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	html "html/template"
	"maps"
	"slices"
	"strings"
	text "text/template"

	"sundry/core/accent"
	"sundry/core/identity"
	"sundry/core/locale"
)

// Kind names a mail. It is stored: it never changes.
type Kind string

// Party is a person with an address.
type Party struct {
	Name    string `json:"name,omitempty"`
	Address string `json:"address"`
}

// Look holds the branding of a seller's mails, beside their name. Empty members keep the default.
type Look struct {
	// LogoURL is a path of ours or an address on another host.
	LogoURL     string `json:"logoUrl,omitempty"`
	AccentColor string `json:"accentColor,omitempty"` // #rrggbb
}

// Content is a rendered mail.
type Content struct {
	Subject, Text, HTML string
	// ReplyTo receives the replies; empty for the sender.
	ReplyTo Party
	// File comes with the mail; empty for none.
	File File
}

// Site holds what mails need of this deployment.
type Site struct {
	// Live means that real money moves here. Otherwise each mail says that it is a test.
	Live bool
	// Seller is the seller of record, and Statement the text of buyers' card statements.
	Seller, Statement string
	// ReceiptURL is the buyer's receipt of a checkout. Its secret is made when the mail is rendered: it is stored
	// nowhere.
	ReceiptURL func(checkoutID string) string
	// PaymentReceiptURL is the receipt of a payment outside a checkout, as little stored.
	PaymentReceiptURL func(paymentID string) string
	// ManageURL is the buyer's page of an appointment, as little stored.
	ManageURL func(appointmentID string) string
	// PortalURL is a customer's portal, as little stored.
	PortalURL func(customerID string) string
	// CreditNoteURL is the credit note of a refund or of a reversed payment, as little stored.
	CreditNoteURL func(subjectID string) string
	// PasswordResetURL returns the page on which a creator sets a new password. Derived at render time; never stored.
	PasswordResetURL func(identity.ResetLink) string
	// EmailConfirmationURL returns the page on which a creator confirms the address. Derived at render time; never stored.
	EmailConfirmationURL func(identity.ConfirmationLink) string
	// MemberInvitationURL returns the page on which an invitation is accepted. Derived at render time; never stored.
	MemberInvitationURL func(identity.MemberLink) string
	// DashboardURL is a page of the creator's dashboard by its path there.
	DashboardURL func(path string) string
	// ImageURL is the absolute address, on our own host, that shows a logo; "" when it cannot be shown.
	ImageURL func(logoURL string) string
}

// kinds holds what define has defined.
var kinds = map[Kind]func(site Site, r reader, data json.RawMessage) (draft, error){}

// define adds a kind of mail to kinds: write makes a draft of its data.
func define[D any](name Kind, write func(Site, reader, D) draft) Kind {
	kinds[name] = func(site Site, r reader, raw json.RawMessage) (draft, error) {
		var data D
		if err := json.Unmarshal(raw, &data); err != nil {
			return draft{}, err
		}
		return write(site, r, data), nil
	}
	return name
}

// draft is a mail before it is rendered as text and HTML.
type draft struct {
	Subject string
	// Preview is the text that a mailbox shows beside the subject.
	Preview string
	Heading string
	// Figure is shown large: an amount.
	Figure string
	Lead   []string
	Rows   []row
	// Links are buttons in HTML, the first one prominent.
	Links []link
	After []string
	// Money means that it is about a payment, which a sandbox only plays.
	Money bool
	// Notice warns that this is a test; filled in for every mail of a sandbox.
	Notice string
	// Tag is the language of the mail, BCP 47.
	Tag string
	// Colon follows a label in the mail's language.
	Colon string
	// Footer explains why the recipient got this mail.
	Footer string
	// Brand is the sender's branding.
	Brand brand
}

// brand is the head of a mail and what its first button is painted with.
type brand struct {
	Name string
	// Logo is its absolute address; "" for the name alone.
	Logo string
	accent.Palette
}

// ours is the palette of a mail whose seller has chosen none.
var ours = accent.Palette{
	Light: accent.Colors{Accent: "#0b5d4a", OnAccent: "#ffffff"},
	Dark:  accent.Colors{Accent: "#5cceac", OnAccent: "#06231b"},
}

// row is a line of a table; a Strong one sums up.
type row struct {
	Label, Value, Note string
	Strong             bool
	// Lines keeps the lines of the value, as an address has them.
	Lines bool
	// Asked means that the label is a person's question, which may be long: the value stands below it.
	Asked bool
}

type link struct{ Label, URL string }

//go:embed layout.html layout.txt
var layouts embed.FS

var (
	functions  = map[string]any{"cells": cells}
	htmlLayout = html.Must(html.New("layout.html").Funcs(functions).ParseFS(layouts, "layout.html"))
	textLayout = text.Must(text.New("layout.txt").Funcs(functions).ParseFS(layouts, "layout.txt"))
)

// Render writes the mail of a kind from its frozen data.
func Render(kind Kind, site Site, data json.RawMessage) (Content, error) {
	write, known := kinds[kind]
	if !known {
		return Content{}, fmt.Errorf("no mail of kind %q", kind)
	}
	about := headOf(data)
	r := about.reader()
	d, err := write(site, r, data)
	if err != nil {
		return Content{}, fmt.Errorf("data of a mail of kind %s: %w", kind, err)
	}
	if !site.Live {
		d.Subject, d.Notice = r.words("sandbox.subject", d.Subject), r.words("sandbox.notice")
		if d.Money {
			d.Notice += " " + r.words("sandbox.money")
		}
	}
	d.Tag, d.Colon, d.Brand = r.Tag(), r.Text("colon"), about.brand(site)
	if d.Preview == "" && len(d.Lead) > 0 {
		d.Preview = d.Lead[0]
	}
	var plain, rich bytes.Buffer
	if err := textLayout.Execute(&plain, d); err != nil {
		return Content{}, fmt.Errorf("render a mail of kind %s as text: %w", kind, err)
	}
	if err := htmlLayout.Execute(&rich, d); err != nil {
		return Content{}, fmt.Errorf("render a mail of kind %s as HTML: %w", kind, err)
	}
	return Content{
		Subject: d.Subject, Text: tidy(plain.String()), HTML: rich.String(), ReplyTo: about.ReplyTo, File: about.File,
	}, nil
}

// Kinds returns all kinds of mails, sorted.
func Kinds() []Kind { return slices.Sorted(maps.Keys(kinds)) }

// head holds the members that every mail's data may have, whatever its kind.
type head struct {
	Locale  string `json:"locale"`
	Look    Look   `json:"look"`
	ReplyTo Party  `json:"replyTo"`
	File    File   `json:"file"`
}

func headOf(data json.RawMessage) head {
	var h head
	if err := json.Unmarshal(data, &h); err != nil {
		return head{} // the function of the kind reads the same data and reports what is wrong with it
	}
	return h
}

// reader returns the recipient's locale: American English if the data names none.
func (h head) reader() reader {
	if h.Locale == "" {
		return reader{locale.Default}
	}
	return reader{locale.ParseTag(h.Locale)}
}

// brand is the seller's in mails to buyers, and ours in all others.
func (h head) brand(site Site) brand {
	b := brand{Name: cmp.Or(oneLine(h.ReplyTo.Name), locale.Default.Text("brand")), Palette: ours}
	if h.Look.LogoURL != "" && site.ImageURL != nil {
		b.Logo = site.ImageURL(h.Look.LogoURL)
	}
	if h.Look.AccentColor != "" {
		b.Palette = accent.Of(h.Look.AccentColor)
	}
	return b
}

// cells sets a row as text: the values stand under each other.
func cells(rows []row) string {
	width := 0
	for _, r := range rows {
		width = max(width, len([]rune(r.Label)))
	}
	var out strings.Builder
	for _, r := range rows {
		value := []string{r.Value}
		if r.Lines {
			value = strings.Split(r.Value, "\n")
		}
		label := r.Label
		for _, line := range append(value, r.Note) {
			if line = oneLine(line); line != "" {
				fmt.Fprintf(&out, "%-*s  %s\n", width, label, line)
				label = ""
			}
		}
	}
	return out.String()
}

// oneLine keeps what people wrote from looking like lines of ours.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// tidy leaves one empty line where a part of the layout was empty.
func tidy(s string) string {
	var out strings.Builder
	empty := true // none at the beginning
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \n")
		if line == "" && empty {
			continue
		}
		empty = line == ""
		out.WriteString(line + "\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}
