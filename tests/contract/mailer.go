package contract

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/id"
	"sundry/ports"
)

// Mailer is the suite of ports.Mailer, over one that has sent nothing. arrived are the messages of an id that stand
// where the mailer sends them, as they are as transmitted.
func Mailer(t *testing.T, mailer ports.Mailer, arrived func(t *testing.T, mailID string) [][]byte) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, post){
		"carries words, people and files as they are": mailArrivesWhole,
		"repeats a message under its Message-ID":      mailRepeats,
		"lets nobody write headers":                   mailHeadersAreOurs,
		"refuses for good what is no address":         mailNeedsAnAddress,
		"reaches addresses that are quoted":           mailReachesOddAddresses,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, post{mailer, arrived})
		})
	}
}

type post struct {
	mailer  ports.Mailer
	arrived func(t *testing.T, mailID string) [][]byte
}

// Message is a message with something of everything, under an id made of n.
func Message(n byte) ports.Message {
	return ports.Message{
		ID: id.New(id.Mail, [16]byte{1, 2, 3, n}), To: "grace.hopper+shop@example.com",
		ToName:  `Grace "Amazing" Höpper`,
		Subject: "Your receipt from Ada’s Workshop — R-000001",
		Text:    "Dear Grace,\n\nthank you. €12.00\n.\nA line of one point is above.\n",
		HTML:    "<!doctype html><p>Dear Grace,<br>thank you. €12.00 &amp; more</p>",
		Date:    time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC),
	}
}

// send sends and returns the only message that arrived.
func (p post) send(t *testing.T, m ports.Message) ReceivedMail {
	t.Helper()
	if err := p.mailer.Send(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	all := p.arrived(t, m.ID)
	if len(all) != 1 {
		t.Fatalf("%d messages arrived, want one", len(all))
	}
	return ReadMail(t, all[0])
}

func mailArrivesWhole(t *testing.T, p post) {
	m := Message('a')
	invite := "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nSUMMARY:Café\r\nEND:VCALENDAR\r\n"
	m.Attachments = []ports.Attachment{
		{Name: "invite.ics", ContentType: "text/calendar", Method: "REQUEST", Content: []byte(invite)},
		{
			Name: "Rechnung März.pdf", ContentType: "application/pdf",
			Content: []byte{0, 1, 2, 0xff, '\r', '\n', '.', '\n'},
		},
	}
	got := p.send(t, m)
	if got.Subject != m.Subject || got.To.Address != m.To || got.To.Name != m.ToName || !got.Date.Equal(m.Date) ||
		got.From.Address == "" {
		t.Errorf("from %v to %v %q at %v", got.From, got.To, got.Subject, got.Date)
	}
	if text := strings.ReplaceAll(got.Parts["text/plain"], "\r\n", "\n"); strings.TrimRight(text,
		"\n") != strings.TrimRight(m.Text, "\n") {
		t.Errorf("text %q, want %q", text, m.Text)
	}
	if html := strings.TrimRight(got.Parts["text/html"], "\r\n"); html != m.HTML {
		t.Errorf("HTML %q, want %q", html, m.HTML)
	}
	if calendar := got.Parts["text/calendar; method=REQUEST"]; strings.TrimRight(calendar,
		"\r\n") != strings.TrimRight(invite, "\r\n") {
		t.Errorf("calendar to act upon %q among %q", calendar, slices.Collect(maps.Keys(got.Parts)))
	}
	for _, a := range m.Attachments {
		if got.Files[a.Name] != string(a.Content) {
			t.Errorf("file %s: %q, want %q", a.Name, got.Files[a.Name], a.Content)
		}
	}
}

// Providers have handed out addresses that headers and commands write in quotes.
func mailReachesOddAddresses(t *testing.T, p post) {
	for n, address := range []string{"grace..hopper@example.com", ".grace@example.com", "grace.@example.com"} {
		m := Message('h' + byte(n)) //nolint:gosec // a few
		m.To, m.ReplyTo = address, address
		got := p.send(t, m)
		reply, err := mail.ParseAddress(got.Header.Get("Reply-To"))
		if err != nil || got.To.Address != address || reply.Address != address {
			t.Errorf("to %v, replies to %v, want %s; %v", got.To, reply, address, err)
		}
	}
}

func mailRepeats(t *testing.T, p post) {
	m := Message('b')
	first := p.send(t, m)
	if err := p.mailer.Send(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	for _, raw := range p.arrived(t, m.ID) {
		if got := ReadMail(t, raw); got.MessageID != first.MessageID || !strings.HasPrefix(got.MessageID, "<"+m.ID+"@") {
			t.Errorf("Message-ID %s, at first %s", got.MessageID, first.MessageID)
		}
	}
	if other := p.send(t, Message('c')); other.MessageID == first.MessageID {
		t.Error("two mails have one Message-ID")
	}
}

func mailHeadersAreOurs(t *testing.T, p post) {
	m := Message('d')
	m.Subject = "Receipt\r\nBcc: mallory@example.com\r\n\r\nbody\x00"
	m.ToName = "Grace\nBcc: mallory@example.com\n>, eve@example.com <x"
	got := p.send(t, m)
	if got.Header.Get("Bcc") != "" || len(got.Header["To"]) != 1 || got.To.Address != m.To ||
		strings.Contains(got.Subject, "\n") {
		t.Errorf("header %v", got.Header)
	}
	n := byte('0')
	for name, a := range map[string]ports.Attachment{
		"a file name with a line":    {Name: "a.ics\r\nX-Evil: 1", ContentType: "text/calendar"},
		"a media type with a line":   {Name: "a.ics", ContentType: "text/calendar\r\nX-Evil: 1"},
		"a method with a parameter":  {Name: "a.ics", ContentType: "text/calendar", Method: "REQUEST\r\nX-Evil: 1"},
		"a file without any name":    {ContentType: "text/calendar"},
		"a media type that is none":  {Name: "a.ics", ContentType: "calendar; x"},
		"a file name with a nothing": {Name: "a\x00.ics", ContentType: "text/calendar"},
	} {
		n++
		m := Message(n)
		m.Attachments = []ports.Attachment{a}
		if err := p.mailer.Send(context.Background(), m); err == nil || len(p.arrived(t, m.ID)) > 0 {
			t.Errorf("%s was sent (%v)", name, err)
		}
	}
	m = Message('f')
	m.ID = "../" + m.ID
	if err := p.mailer.Send(context.Background(), m); err == nil {
		t.Error("an id with a path was taken")
	}
}

func mailNeedsAnAddress(t *testing.T, p post) {
	for _, to := range []string{"", "grace", "grace@example.com, eve@example.com",
		"grace@example.com>\r\nRCPT TO:<eve@example.com", "Grace <grace@example.com>"} {
		m := Message('g')
		m.To = to
		var refused *ports.MailRefusedError
		if err := p.mailer.Send(context.Background(), m); !errors.As(err, &refused) || len(p.arrived(t, m.ID)) > 0 {
			t.Errorf("%q: %v, want a refusal", to, err)
		}
	}
}

// ReceivedMail is a message as its reader sees it.
type ReceivedMail struct {
	Header             mail.Header
	Subject, MessageID string
	From, To           *mail.Address
	Date               time.Time
	// Parts are the texts by media type, a calendar's with its method. Files are the attachments by name.
	Parts, Files map[string]string
}

// ReadMail takes a message apart with the standard library.
func ReadMail(t *testing.T, raw []byte) ReceivedMail {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	a := ReceivedMail{
		Header: m.Header, MessageID: m.Header.Get("Message-Id"), Parts: map[string]string{}, Files: map[string]string{},
	}
	var errs [5]error
	a.Subject, errs[0] = (&mime.WordDecoder{}).DecodeHeader(m.Header.Get("Subject"))
	a.From, errs[1] = mail.ParseAddress(m.Header.Get("From"))
	a.To, errs[2] = mail.ParseAddress(m.Header.Get("To"))
	a.Date, errs[3] = m.Header.Date()
	errs[4] = a.read(m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), "", m.Body)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return a
}

func (a *ReceivedMail) read(contentType, encoding, file string, body io.Reader) error {
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		return err
	}
	if strings.HasPrefix(kind, "multipart/") {
		parts := multipart.NewReader(body, parameters["boundary"])
		for {
			part, err := parts.NextRawPart()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			name, err := (&mime.WordDecoder{}).DecodeHeader(part.FileName())
			if err != nil {
				return err
			}
			if err := a.read(
				part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), name, part,
			); err != nil {
				return err
			}
		}
	}
	switch encoding {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	content, err := io.ReadAll(body)
	if err != nil {
		return fmt.Errorf("a %s part: %w", kind, err)
	}
	if method := parameters["method"]; method != "" {
		kind += "; method=" + method
	}
	if file != "" {
		a.Files[file] = string(content)
	} else {
		a.Parts[kind] = string(content)
	}
	return nil
}
