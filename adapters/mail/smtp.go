package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	stdmail "net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"sundry/ports"
)

const (
	// timeout bounds a whole conversation. A task has 17 s.
	timeout = 15 * time.Second
	// dialTimeout leaves time for the conversation.
	dialTimeout = 5 * time.Second
	// maxReason bounds how much of a server's words is kept.
	maxReason = 300
)

// STARTTLS specifies whether a plain connection must become an encrypted one.
type STARTTLS string

// The policies. TLS from the beginning (smtps) needs none.
const (
	Required      STARTTLS = "required"
	Opportunistic STARTTLS = "opportunistic"
	Never         STARTTLS = "never"
)

// Server is a mail server that takes messages from us.
type Server struct {
	Host string
	Port int
	// TLS from the beginning.
	TLS      bool
	STARTTLS STARTTLS
	// Username is empty for a server that asks for none. Neither is ever sent in clear, but to this machine.
	Username, Password string
}

// SMTP hands messages to a mail server, each over a connection of its own.
type SMTP struct {
	server  Server
	from    stdmail.Address
	timeout time.Duration
	tls     *tls.Config
	dial    gomail.DialContextFunc
}

var _ ports.Mailer = (*SMTP)(nil)

// NewSMTP returns a mailer over a server.
func NewSMTP(server Server, from stdmail.Address) *SMTP {
	return &SMTP{server, from, timeout, &tls.Config{ServerName: server.Host, MinVersion: tls.VersionTLS12},
		(&net.Dialer{}).DialContext}
}

// Send implements ports.Mailer. A message that the server has accepted is sent, even if the connection fails
// afterwards.
func (s *SMTP) Send(ctx context.Context, m ports.Message) error {
	msg, err := compose(s.from, m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	line := &line{server: s, whole: ctx}
	defer line.close()
	client, err := gomail.NewClient(s.server.Host, s.options(line)...)
	if err != nil {
		return fmt.Errorf("the mail server's settings: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if err == nil || msg.IsDelivered() {
		return nil
	}
	return s.failure(ctx, err)
}

func (s *SMTP) options(line *line) []gomail.Option {
	options := []gomail.Option{
		gomail.WithPort(s.server.Port), gomail.WithTimeout(s.timeout), gomail.WithTLSConfig(s.tls), gomail.WithoutNoop(),
	}
	switch {
	case s.server.TLS:
		options = append(options, gomail.WithSSL())
	case s.server.STARTTLS == Required:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case s.server.STARTTLS == Never:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	}
	if s.server.Username != "" {
		options = append(options, s.auth(), gomail.WithUsername(s.server.Username), gomail.WithPassword(s.server.Password))
	}
	return append(options, gomail.WithDialContextFunc(line.dial))
}

// auth picks how the password is shown: readable only where the connection is encrypted, or ends on this machine.
func (s *SMTP) auth() gomail.Option {
	switch {
	case s.server.TLS: // the library does not see that our dialler has encrypted the connection already
		return gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin)
	case loopback(s.server.Host): // what the mail catchers of developers offer
		return gomail.WithSMTPAuth(gomail.SMTPAuthPlain)
	}
	return gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover)
}

// line is the connection of one message.
type line struct {
	server *SMTP
	// whole bounds the whole exchange, not only the dialing.
	whole context.Context
	conn  *boundConn
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := l.server.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.conn = &boundConn{Conn: conn, stop: context.AfterFunc(l.whole, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })}
	if !l.server.server.TLS {
		return l.conn, nil
	}
	encrypted := tls.Client(l.conn, l.server.tls)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return nil, err // close closes
	}
	return encrypted, nil
}

// close closes what the library leaves open when a greeting or a password fails.
func (l *line) close() {
	if l.conn != nil {
		_ = l.conn.Close()
	}
}

// boundConn ends its reads and writes when a context ends. The library's own deadlines begin again with every step.
type boundConn struct {
	net.Conn
	stop func() bool
}

// SetDeadline implements net.Conn.
func (*boundConn) SetDeadline(time.Time) error { return nil }

// Close implements net.Conn.
func (c *boundConn) Close() error {
	c.stop()
	return c.Conn.Close()
}

// failure describes an error in short and classifies it as permanent or not. A 5xx response to the recipient or to the
// message is permanent. A refusal of the sender, the password or the encryption is for the operator to fix, and the
// mail waits.
func (s *SMTP) failure(ctx context.Context, err error) error {
	var refusal *gomail.SendError
	if !errors.As(err, &refusal) {
		return errors.New(s.reason(ctx, "the mail server cannot be used", err))
	}
	message, _, _ := strings.Cut(refusal.Error(), ", affected recipient(s):")
	message, _, _ = strings.Cut(message, ", affected message ID:")
	switch refusal.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		if code := refusal.ErrorCode(); code >= 500 && code <= 599 {
			return &ports.MailRefusedError{Reason: s.reason(ctx, "the mail server", errors.New(message))}
		}
	default:
	}
	return errors.New(s.reason(ctx, "the mail server", errors.New(message)))
}

// reason is one line without secrets: a server may repeat what it was sent.
func (s *SMTP) reason(ctx context.Context, who string, err error) string {
	var network *net.OpError
	switch {
	case ctx.Err() != nil:
		return who + ": no response in time"
	case errors.As(err, &network):
		err = network.Err // without addresses of the operator's network
	}
	message := err.Error()
	if s.server.Password != "" {
		message = strings.ReplaceAll(message, s.server.Password, "…")
	}
	message = oneLine(message)
	if runes := []rune(message); len(runes) > maxReason {
		message = string(runes[:maxReason]) + "…"
	}
	return who + ": " + message
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
