package mail

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"math/big"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"
)

// hang is the reply of a server that sends nothing any more.
const hang = "hang"

// testServer is a small mail server. replies replaces, by the command's verb ("." ends the text, "greeting" begins
// the conversation), what it responds with; "" breaks the connection off.
type testServer struct {
	t             *testing.T
	listener      net.Listener
	startTLS, tls bool
	certificate   tls.Certificate

	mu       sync.Mutex
	replies  map[string]string
	lines    []string
	messages [][]byte
	secure   bool
	stopped  chan struct{}
}

// newServer runs a server that offers STARTTLS if it has a reply to that.
func newServer(t *testing.T, replies map[string]string) *testServer {
	t.Helper()
	_, startTLS := replies["STARTTLS"]
	return newSecureServer(t, replies, startTLS, false)
}

// newSecureServer runs a server that offers STARTTLS, or begins with TLS.
func newSecureServer(t *testing.T, replies map[string]string, startTLS, withTLS bool) *testServer {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, listener: listener, startTLS: startTLS, tls: withTLS, replies: map[string]string{},
		stopped: make(chan struct{})}
	s.reply(nil, replies)
	s.certificate = certificate(t)
	var conversations sync.WaitGroup
	conversations.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conversations.Go(func() { s.converse(conn) })
		}
	})
	t.Cleanup(func() {
		close(s.stopped)
		_ = listener.Close()
		conversations.Wait()
	})
	return s
}

// mailer is an SMTP client of the server that trusts its certificate.
func (s *testServer) mailer() *SMTP {
	port := s.listener.Addr().(*net.TCPAddr).Port
	m := NewSMTP(Server{Host: "127.0.0.1", Port: port, STARTTLS: Opportunistic}, sender)
	leaf, err := x509.ParseCertificate(s.certificate.Certificate[0])
	if err != nil {
		s.t.Fatal(err)
	}
	m.tls.RootCAs = x509.NewCertPool()
	m.tls.RootCAs.AddCert(leaf)
	return m
}

// reply takes some replies back and sets others.
func (s *testServer) reply(back, replies map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for verb := range back {
		delete(s.replies, verb)
	}
	maps.Copy(s.replies, replies)
}

func (s *testServer) taken() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.messages...)
}

// received are the commands of a verb.
func (s *testServer) received(verb string) (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		if strings.HasPrefix(line, verb) {
			lines = append(lines, line)
		}
	}
	return lines
}

// encrypted reports whether the last message came over TLS.
func (s *testServer) encrypted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.secure
}

func (s *testServer) converse(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if s.tls {
		conn = tls.Server(conn, s.tlsConfig())
	}
	in, secure := textproto.NewReader(bufio.NewReader(conn)), s.tls
	if !s.respond(conn, "greeting", "220 mail.example.com ESMTP") {
		return
	}
	for {
		line, err := in.ReadLine()
		if err != nil {
			return
		}
		verb := strings.ToUpper(line[:min(4, len(line))])
		if strings.HasPrefix(strings.ToUpper(line), "STARTTLS") {
			verb = "STARTTLS"
		}
		s.mu.Lock()
		s.lines = append(s.lines, line)
		s.mu.Unlock()
		if !s.respond(conn, verb, s.standard(verb, secure)) || verb == "QUIT" {
			return
		}
		switch verb {
		case "STARTTLS":
			conn = tls.Server(conn, s.tlsConfig())
			in, secure = textproto.NewReader(bufio.NewReader(conn)), true
		case "DATA":
			if s.overridden("DATA") {
				continue
			}
			text, err := in.ReadDotBytes()
			if err != nil || !s.take(conn, text, secure) {
				return
			}
		}
	}
}

func (s *testServer) take(conn net.Conn, text []byte, secure bool) bool {
	if !s.overridden(".") {
		s.mu.Lock()
		s.messages, s.secure = append(s.messages, bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))), secure
		s.mu.Unlock()
	}
	return s.respond(conn, ".", "250 2.0.0 taken")
}

func (s *testServer) standard(verb string, secure bool) string {
	switch verb {
	case "EHLO":
		features := "250-mail.example.com\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES\r\n"
		if s.startTLS && !secure {
			features += "250-STARTTLS\r\n"
		}
		return features + "250 AUTH PLAIN LOGIN"
	case "STARTTLS":
		return "220 2.0.0 go on"
	case "AUTH":
		return "235 2.7.0 welcome"
	case "DATA":
		return "354 go on"
	case "QUIT":
		return "221 2.0.0 bye"
	case "HELO", "MAIL", "RCPT", "RSET", "NOOP":
		return "250 2.0.0 fine"
	}
	return "500 5.5.2 what"
}

func (s *testServer) overridden(verb string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, scripted := s.replies[verb]
	return scripted
}

func (s *testServer) respond(conn net.Conn, verb, reply string) bool {
	s.mu.Lock()
	if scripted, ok := s.replies[verb]; ok {
		reply = scripted
	}
	s.mu.Unlock()
	switch reply {
	case "":
		return false
	case hang:
		<-s.stopped
		return false
	}
	_, err := conn.Write([]byte(reply + "\r\n"))
	return err == nil
}

func (s *testServer) tlsConfig() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{s.certificate}, MinVersion: tls.VersionTLS12}
}

// certificate is self-signed, for mail.example.com and this machine.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, DNSNames: []string{"mail.example.com"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}
