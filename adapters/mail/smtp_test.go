package mail

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/ports"
	"sundry/tests/contract"
)

func TestSMTPContract(t *testing.T) {
	t.Parallel()
	server := newServer(t, nil)
	contract.Mailer(t, server.mailer(), func(t *testing.T, mailID string) [][]byte {
		t.Helper()
		var all [][]byte
		for _, raw := range server.taken() {
			if strings.Contains(string(raw), mailID) {
				all = append(all, raw)
			}
		}
		return all
	})
}

func TestSMTPResponseDecidesAboutRetries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replies map[string]string
		refused bool
		reason  string
	}{
		"a greylisted recipient is asked for again": {map[string]string{"RCPT": "451 4.7.1 try again later"},
			false, "4.7.1 try again later"},
		"an unknown recipient is refused for good": {map[string]string{"RCPT": "550 5.1.1 no such user"}, true,
			"5.1.1 no such user"},
		"an unwelcome message is refused for good": {map[string]string{".": "554 5.7.1 looks like spam"}, true,
			"5.7.1 looks like spam"},
		"a message that may not begin is refused for good": {map[string]string{"DATA": "554 5.5.1 no"}, true, "5.5.1 no"},
		"a message that is not stored is sent again": {map[string]string{".": "452 4.3.1 disk full"}, false,
			"4.3.1 disk full"},
		"a refused sender is the operator's to fix": {map[string]string{"MAIL": "550 5.7.1 who are you"}, false,
			"5.7.1 who are you"},
		"a server that is closing is asked again": {map[string]string{"EHLO": "421 4.3.2 closing",
			"HELO": "421 4.3.2 closing"}, false, "421"},
		"a server that has no service is asked again": {map[string]string{"greeting": "554 no SMTP service here"},
			false, "554"},
		"a message with a broken farewell is sent": {map[string]string{"QUIT": "421 bye", "RSET": "500 what"},
			false, ""},
		"a connection that breaks off before is another try":   {map[string]string{"MAIL": ""}, false, "EOF"},
		"a connection that breaks off after the text, as well": {map[string]string{".": ""}, false, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, c.replies)
			err := server.mailer().Send(t.Context(), contract.Message('x'))
			var refused *ports.MailRefusedError
			if c.reason == "" {
				if err != nil || len(server.taken()) != 1 {
					t.Fatalf("%v, %d messages taken", err, len(server.taken()))
				}
				return
			}
			if err == nil || errors.As(err, &refused) != c.refused || !strings.Contains(err.Error(), c.reason) {
				t.Fatalf("%v, want refused %v because of %q", err, c.refused, c.reason)
			}
			if len(server.taken()) > 0 {
				t.Error("and yet it was taken")
			}
			if strings.Contains(err.Error(), "grace") || strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("%v reveals the recipient or the operator's network", err)
			}
			server.reply(c.replies, nil)
			if err := server.mailer().Send(t.Context(), contract.Message('x')); err != nil || len(server.taken()) != 1 {
				t.Errorf("once fixed: %v, %d messages taken", err, len(server.taken()))
			}
		})
	}
}

func TestAServerThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"greeting", "EHLO", "STARTTLS", "MAIL", "RCPT", "DATA", ".", "RSET"} {
		t.Run("at "+at, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, map[string]string{at: hang})
			mailer := server.mailer()
			mailer.timeout = 300 * time.Millisecond
			if at == "RSET" {
				mailer.timeout = 5 * time.Second // long enough for all that comes before, on any machine
			}
			began := time.Now()
			err := mailer.Send(t.Context(), contract.Message('x'))
			if took := time.Since(began); took > mailer.timeout+10*time.Second {
				t.Errorf("it took %v", took)
			}
			var refused *ports.MailRefusedError
			switch {
			case at == "RSET":
				if err != nil {
					t.Errorf("the message was taken, and yet: %v", err)
				}
			case err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), "no response in time"):
				t.Errorf("%v", err)
			}
		})
	}
}

func TestACallerWhoGivesUpIsHeard(t *testing.T) {
	t.Parallel()
	server := newServer(t, map[string]string{"MAIL": hang})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := server.mailer().Send(ctx, contract.Message('x')); err == nil || time.Since(began) > 10*time.Second {
		t.Errorf("the caller gave up: %v after %v", err, time.Since(began))
	}
}

func TestNobodyThereIsWorthAnotherTry(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	mailer := NewSMTP(Server{Host: "127.0.0.1", Port: port, STARTTLS: Opportunistic}, sender)
	var refused *ports.MailRefusedError
	if err := mailer.Send(t.Context(), contract.Message('x')); err == nil || errors.As(err, &refused) ||
		strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%v", err)
	}
}

func TestPasswordsTravelEncryptedOrNotAtAll(t *testing.T) {
	t.Parallel()
	const password = "only for tests"
	for name, c := range map[string]struct {
		server   Server
		startTLS bool
		host     string
		sent     bool
		auth     bool // a password was shown
	}{
		"TLS from the beginning": {Server{TLS: true, Username: "ada", Password: password}, false,
			"mail.example.com", true, true},
		"STARTTLS as required": {Server{STARTTLS: Required, Username: "ada", Password: password}, true,
			"mail.example.com", true, true},
		"STARTTLS required and not offered": {Server{STARTTLS: Required, Username: "ada", Password: password},
			false, "mail.example.com", false, false},
		"STARTTLS as offered, without a password": {Server{STARTTLS: Opportunistic}, true, "mail.example.com", true,
			false},
		"no STARTTLS and no password": {Server{STARTTLS: Opportunistic}, false, "mail.example.com", true,
			false},
		"a password for another machine in clear": {Server{STARTTLS: Never, Username: "ada", Password: password}, true,
			"mail.example.com", false, false},
		"a password for this machine in clear": {Server{STARTTLS: Never, Username: "ada", Password: password}, false,
			"127.0.0.1", true, true},
		"a certificate of somebody else": {Server{TLS: true, Username: "ada", Password: password}, false,
			"other.example.com", false, false},
		"a certificate of somebody else, by STARTTLS": {Server{STARTTLS: Opportunistic}, true, "other.example.com", false,
			false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newSecureServer(t, nil, c.startTLS, c.server.TLS)
			mailer := server.mailer()
			c.server.Host, c.server.Port = c.host, mailer.server.Port
			mailer.server = c.server
			mailer.tls.ServerName = c.host
			mailer.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, server.listener.Addr().String())
			}
			err := mailer.Send(t.Context(), contract.Message('x'))
			if (err == nil) != c.sent || (len(server.taken()) == 1) != c.sent {
				t.Errorf("%v, %d messages taken, want sent %v", err, len(server.taken()), c.sent)
			}
			if shown := len(server.received("AUTH")) > 0; shown != c.auth {
				t.Errorf("authentication tried %v, want %v", shown, c.auth)
			}
			encrypted := c.server.TLS || c.startTLS && c.server.STARTTLS != Never
			if c.sent && server.encrypted() != encrypted {
				t.Errorf("encrypted %v, want %v", server.encrypted(), encrypted)
			}
		})
	}
}

func TestAnErrorHoldsNoPassword(t *testing.T) {
	t.Parallel()
	server := newServer(t, map[string]string{"AUTH": "535 5.7.8 ada with hunter2hunter2 is nobody"})
	mailer := server.mailer()
	mailer.server.Username, mailer.server.Password = "ada", "hunter2hunter2"
	err := mailer.Send(t.Context(), contract.Message('x'))
	var refused *ports.MailRefusedError
	if err == nil || errors.As(err, &refused) || strings.Contains(err.Error(), "hunter2") ||
		!strings.Contains(err.Error(), "535") {
		t.Errorf("%v", err)
	}
	if lines := server.received("MAIL"); len(lines) > 0 {
		t.Errorf("went on with %v", lines)
	}
}

func TestManyMessagesAtATime(t *testing.T) {
	t.Parallel()
	server := newServer(t, nil)
	mailer := server.mailer()
	sent := make(chan error)
	for n := range 20 {
		go func() { sent <- mailer.Send(t.Context(), contract.Message(byte(n))) }()
	}
	for range 20 {
		if err := <-sent; err != nil {
			t.Error(err)
		}
	}
	for _, line := range server.received("RCPT") {
		if line != "RCPT TO:<grace.hopper+shop@example.com>" {
			t.Errorf("asked for %q", line)
		}
	}
	var ids []string
	for _, raw := range server.taken() {
		ids = append(ids, contract.ReadMail(t, raw).MessageID)
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 20 {
		t.Errorf("%d different messages arrived, want 20", len(ids))
	}
}
