// Package mailtemplate renders mails: what happened goes in, a subject and the same words as text and as HTML come out. A
// new mail is one line in the table of kinds, one function that fills a draft, and its strings.
package mailtemplate

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	html "html/template"
	"strings"
	text "text/template"

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

// Content is a rendered mail.
type Content struct{ Subject, Text, HTML string }

// Site is what mails need to know of this deployment.
type Site struct {
	// Sandbox means that no money moves here.
	Sandbox bool
	// ReceiptURL is the buyer's receipt of a checkout. Its secret is made when the mail is rendered: it is stored nowhere.
	ReceiptURL func(checkoutID string) string
	// ManageURL is the buyer's page of an appointment, as little stored.
	ManageURL func(appointmentID string) string
	// PortalURL is a customer's portal, as little stored.
	PortalURL func(customerID string) string
	// PasswordResetURL is where a creator sets a new password, as little stored.
	PasswordResetURL func(identity.ResetLink) string
}

// kinds are all the mails there are.
var kinds = map[Kind]func(site Site, r reader, data json.RawMessage) (draft, error){
	KindReceipt:          from(receipt),
	KindEndpointDisabled: from(endpointDisabled),
	KindPortalLink:       from(portalLink),
	KindRenewalDue:       from(renewalDue),
	KindChargeFailed:     from(chargeFailed),
	KindRenewed:          from(renewed),
	KindPasswordReset:    from(passwordReset),

	KindAppointmentBooked:      from(aboutAppointment("booked", true)),
	KindAppointmentRescheduled: from(aboutAppointment("rescheduled", true)),
	KindAppointmentCanceled:    from(aboutAppointment("canceled", true)),
	KindAppointmentReminder:    from(aboutAppointment("reminder", true)),
	KindCreatorBooked:          from(aboutAppointment("creator.booked", false)),
	KindCreatorRescheduled:     from(aboutAppointment("creator.rescheduled", false)),
	KindCreatorCanceled:        from(aboutAppointment("creator.canceled", false)),
}

// draft is a mail before it is rendered as text and HTML.
type draft struct {
	Subject string
	// Preview is what a mailbox shows beside the subject.
	Preview string
	Heading string
	// Figure is shown large: an amount.
	Figure string
	Lead   []string
	Rows   []row
	// Links are buttons in HTML, the first one prominent.
	Links []link
	After []string
	// Notice warns that this is a test; filled in for every mail of a sandbox.
	Notice string
	// Tag is the language of the mail, BCP 47.
	Tag string
	// Footer is why this came.
	Footer string
}

// row is a line of a table; a Strong one sums up.
type row struct {
	Label, Value, Note string
	Strong             bool
}

type link struct{ Label, URL string }

// from reads a kind's data for the function that writes it.
func from[D any](write func(Site, reader, D) draft) func(Site, reader, json.RawMessage) (draft, error) {
	return func(site Site, r reader, raw json.RawMessage) (draft, error) {
		var data D
		err := json.Unmarshal(raw, &data)
		if err != nil {
			return draft{}, err
		}
		return write(site, r, data), nil
	}
}

//go:embed layout.html layout.txt
var layouts embed.FS

var (
	functions  = map[string]any{"cells": cells, "brand": func() string { return locale.Default.Text("brand") }}
	htmlLayout = html.Must(html.New("layout.html").Funcs(functions).ParseFS(layouts, "layout.html"))
	textLayout = text.Must(text.New("layout.txt").Funcs(functions).ParseFS(layouts, "layout.txt"))
)

// Render writes the mail of a kind from its frozen data.
func Render(kind Kind, site Site, data json.RawMessage) (Content, error) {
	write, known := kinds[kind]
	if !known {
		return Content{}, fmt.Errorf("no mail of kind %q", kind)
	}
	r := readerOf(data)
	d, err := write(site, r, data)
	if err != nil {
		return Content{}, fmt.Errorf("data of a mail of kind %s: %w", kind, err)
	}
	if site.Sandbox {
		d.Subject, d.Notice = r.words("sandbox.subject", d.Subject), r.words("sandbox.notice")
	}
	d.Tag = r.Tag()
	var plain, rich bytes.Buffer
	if err := textLayout.Execute(&plain, d); err != nil {
		return Content{}, fmt.Errorf("render a mail of kind %s as text: %w", kind, err)
	}
	if err := htmlLayout.Execute(&rich, d); err != nil {
		return Content{}, fmt.Errorf("render a mail of kind %s as HTML: %w", kind, err)
	}
	return Content{Subject: d.Subject, Text: tidy(plain.String()), HTML: rich.String()}, nil
}

// readerOf is whom a mail's data is for: American English where it names no locale.
func readerOf(data json.RawMessage) reader {
	var of struct {
		Locale string `json:"locale"`
	}
	if err := json.Unmarshal(data, &of); err != nil || of.Locale == "" {
		return reader{locale.Default}
	}
	return reader{locale.ParseTag(of.Locale)}
}

// cells sets a row as text: the values stand under each other.
func cells(rows []row) string {
	width := 0
	for _, r := range rows {
		width = max(width, len([]rune(r.Label)))
	}
	var out strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&out, "%-*s  %s\n", width, r.Label, oneLine(r.Value))
		if r.Note != "" {
			fmt.Fprintf(&out, "%-*s  %s\n", width, "", oneLine(r.Note))
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
