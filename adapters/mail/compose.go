// Package mail sends messages out: to a mail server, or into files that a developer can open.
package mail

import (
	"bytes"
	"fmt"
	"mime"
	stdmail "net/mail"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"sundry/core/email"
	"sundry/core/id"
	"sundry/ports"
)

// maxName bounds how much of a person's name a header repeats.
const maxName = 100

// compose makes the message that is sent. Whatever is in it, headers cannot be added through it: names and subjects are
// encoded, addresses are parsed, and file names and media types are ours or refused.
func compose(from stdmail.Address, m ports.Message) (*gomail.Msg, error) {
	if !id.Valid(id.Mail, m.ID) {
		return nil, fmt.Errorf("%q is no mail's id", m.ID)
	}
	to, ok := readAddress(m.To)
	if !ok {
		return nil, &ports.MailRefusedError{Reason: "the address cannot be written to"}
	}
	to.Name = shortened(oneLine(m.ToName))
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(&from)
	msg.AddToMailAddress(to)
	if m.ReplyTo != "" {
		reply, ok := readAddress(m.ReplyTo)
		if !ok {
			return nil, &ports.MailRefusedError{Reason: "the address for replies cannot be written to"}
		}
		reply.Name = shortened(oneLine(m.ReplyToName))
		msg.SetGenHeader("Reply-To", reply.String())
	}
	msg.Subject(oneLine(m.Subject))
	msg.SetMessageIDWithValue(m.ID + "@" + from.Address[strings.LastIndexByte(from.Address, '@')+1:])
	msg.SetDateWithValue(m.Date.UTC())
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // no holiday notices in response
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	for _, a := range m.Attachments {
		if err := attach(msg, a); err != nil {
			return nil, fmt.Errorf("attach to %s: %w", m.ID, err)
		}
	}
	return msg, nil
}

// readAddress reads an address as we take them from people. Some have points where headers and commands need quotes,
// which the address writes around them.
func readAddress(text string) (address *stdmail.Address, ok bool) {
	written := "<" + text + ">"
	if _, taken := email.Parse(text); taken {
		written = (&stdmail.Address{Address: text}).String()
	}
	address, err := stdmail.ParseAddress(written)
	return address, err == nil && address.Address == text
}

// attach adds a file. A calendar with a method is also one of the alternatives of the text: that is where mail clients
// look for something to accept or decline.
func attach(msg *gomail.Msg, a ports.Attachment) error {
	parameters := map[string]string{}
	if a.Method != "" {
		parameters["charset"], parameters["method"] = "utf-8", a.Method
	}
	contentType := mime.FormatMediaType(a.ContentType, parameters)
	if contentType == "" || a.Name == "" || strings.ContainsFunc(a.Name, unicode.IsControl) ||
		strings.ContainsFunc(a.Method, func(r rune) bool { return r < 'A' || r > 'Z' }) {
		return fmt.Errorf("a file %q of type %q with method %q", a.Name, a.ContentType, a.Method)
	}
	if a.Method != "" {
		// The charset is the message's and added by the library.
		msg.AddAlternativeString(gomail.ContentType(a.ContentType+"; method="+a.Method), string(a.Content))
	}
	return msg.AttachReader(a.Name, bytes.NewReader(a.Content),
		gomail.WithFileContentType(gomail.ContentType(contentType)))
}

// oneLine takes out what has no place in a header.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")), " ")
}

func shortened(name string) string {
	if runes := []rune(name); len(runes) > maxName {
		return string(runes[:maxName])
	}
	return name
}
