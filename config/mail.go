package config

import (
	"errors"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
)

// sandboxSender is the default sender of mail in the sandbox. Replies to it are not read.
const sandboxSender = "Sundry <no-reply@sundry.example>"

// MailServer is SMTP_URL taken apart.
type MailServer struct {
	Host string
	Port int
	// TLS from the beginning (smtps).
	TLS bool
	// STARTTLS is required, opportunistic or never; required by default where a password is sent to another machine.
	STARTTLS           string
	Username, Password string
}

// MailServer returns the mail server; ok is false without SMTP_URL.
func (c Config) MailServer() (server MailServer, ok bool) {
	if c.SMTPURL == "" {
		return MailServer{}, false
	}
	server, err := parseMailServer(c.SMTPURL)
	return server, err == nil // the start has refused any other
}

// Sender returns the sender of mail.
func (c Config) Sender() mail.Address {
	address, err := mail.ParseAddress(c.MailFrom)
	if err != nil {
		return mail.Address{} // the start has refused it
	}
	return *address
}

// Errors about SMTP_URL never repeat it: it holds a password.
var (
	errSMTPURL      = errors.New("SMTP_URL must read smtp://user:password@host:587 or smtps://user:password@host:465, without a path")
	errSMTPSTARTTLS = errors.New("SMTP_URL takes one parameter, starttls, which is required, opportunistic or never and has no place in smtps://")
)

func parseMailServer(text string) (MailServer, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "smtp" && u.Scheme != "smtps") || u.Hostname() == "" ||
		(u.Path != "" && u.Path != "/") || u.Fragment != "" {
		return MailServer{}, errSMTPURL
	}
	server := MailServer{Host: u.Hostname(), Port: 587, TLS: u.Scheme == "smtps", Username: u.User.Username()}
	server.Password, _ = u.User.Password()
	if server.TLS {
		server.Port = 465
	}
	if u.Port() != "" {
		if server.Port, err = strconv.Atoi(u.Port()); err != nil || server.Port < 1 || server.Port > 65535 {
			return MailServer{}, errSMTPURL
		}
	}
	if (server.Username == "") != (server.Password == "") {
		return MailServer{}, errSMTPURL
	}
	server.STARTTLS, err = startTLS(u, server)
	return server, err
}

func startTLS(u *url.URL, server MailServer) (string, error) {
	query, err := url.ParseQuery(u.RawQuery)
	wanted, given := query["starttls"]
	switch {
	case err != nil || len(query) > len(wanted) || len(wanted) > 1 || given && server.TLS:
		return "", errSMTPSTARTTLS
	case given && !slices.Contains([]string{"required", "opportunistic", "never"}, wanted[0]):
		return "", errSMTPSTARTTLS
	case given:
		return wanted[0], nil
	case server.TLS:
		return "", nil
	case server.Username == "" || thisMachine(server.Host):
		return "opportunistic", nil
	}
	return "required", nil
}

func thisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (c Config) mailFaults() (all faultList) {
	if c.SMTPURL != "" {
		if _, err := parseMailServer(c.SMTPURL); err != nil {
			all = append(all, err)
		}
	}
	if c.MailFrom != "" {
		address, err := mail.ParseAddress(c.MailFrom)
		all.require(err == nil && isASCII(address.Address),
			"MAIL_FROM must be an address such as Example <no-reply@example.com>")
	}
	return all
}

// isASCII reports whether every server takes the text as an address.
func isASCII(s string) bool {
	return !slices.ContainsFunc([]byte(s), func(b byte) bool { return b > 0x7e || b <= ' ' })
}
