// Package roundtrips holds what one payment, session and delivery may ask of PostgreSQL, so that it cannot creep, and in
// which order transactions lock: it reads the wire between the program and the database.
package roundtrips

import (
	"bufio"
	"encoding/binary"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// trip holds the statements that a client sent before it waited for a response.
type trip struct {
	statements []string
	commits    bool
}

// bound is a statement with its parameters, numbers in decimal.
type bound struct {
	statement  string
	parameters []string
}

// tap passes PostgreSQL connections on and notes their round trips and transactions.
type tap struct {
	target       string
	mu           sync.Mutex
	trips        []trip
	transactions [][]bound
	sent         map[string]bool // every statement so far
}

// newTap listens in front of the server of an address, which it returns with itself in the server's place.
func newTap(t testing.TB, address string) (_ *tap, via string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{target: u.Host, sent: map[string]bool{}}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.pass(client)
		}
	}()
	u.Host = listener.Addr().String()
	return p, u.String()
}

// take returns what was noted since it was last called.
func (p *tap) take() []trip {
	p.mu.Lock()
	defer p.mu.Unlock()
	trips := p.trips
	p.trips = nil
	return trips
}

// committed returns the transactions that were committed so far.
func (p *tap) committed() [][]bound {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.transactions)
}

// statements returns every statement that was sent so far, each once.
func (p *tap) statements() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.sent))
}

func (p *tap) pass(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", p.target) //nolint:noctx // it ends with the client
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	read, write := io.Pipe()
	go func() {
		p.watch(bufio.NewReader(read))
		_, _ = io.Copy(io.Discard, read)
	}()
	_, _ = io.Copy(server, io.TeeReader(client, write))
	_ = write.Close()
}

// conversation is the state of one connection.
type conversation struct {
	prepared    map[string]string
	inside      bool // a transaction
	current     trip
	transaction []bound   // so far
	committed   [][]bound // since the last round trip
}

// watch follows the messages of a client: Sync and Query are what it waits after.
func (p *tap) watch(in *bufio.Reader) {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return
	}
	if _, err := in.Discard(int(binary.BigEndian.Uint32(length[:])) - 4); err != nil { // the start-up message
		return
	}
	c := conversation{prepared: map[string]string{}}
	for {
		kind, err := in.ReadByte()
		if err != nil {
			return
		}
		if _, err := io.ReadFull(in, length[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(length[:])-4)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		if c.note(kind, string(body)) {
			p.mu.Lock()
			p.trips = append(p.trips, c.current)
			for _, statement := range c.current.statements {
				p.sent[statement] = true
			}
			p.transactions = append(p.transactions, c.committed...)
			p.mu.Unlock()
			c.current, c.committed = trip{}, nil
		}
	}
}

// note reports whether the message ends a round trip that counts: preparing a statement happens once per connection.
func (c *conversation) note(kind byte, body string) (ended bool) {
	switch kind {
	case 'Q':
		c.run(bound{statement: strings.TrimRight(body, "\x00")})
		return true
	case 'P':
		name, rest, _ := strings.Cut(body, "\x00")
		c.prepared[name], _, _ = strings.Cut(rest, "\x00")
	case 'B':
		_, rest, _ := strings.Cut(body, "\x00")
		name, values, _ := strings.Cut(rest, "\x00")
		c.run(bound{c.prepared[name], parametersOf([]byte(values))})
	case 'S':
		return len(c.current.statements) > 0
	}
	return false
}

// parametersOf reads the rest of a Bind message: a list of formats, where 1 is binary, and a list of values.
func parametersOf(body []byte) (parameters []string) {
	next := func() int {
		n := int(binary.BigEndian.Uint16(body))
		body = body[2:]
		return n
	}
	formats := make([]int, next())
	for i := range formats {
		formats[i] = next()
	}
	for i := range next() {
		length := int32(binary.BigEndian.Uint32(body)) //nolint:gosec // -1 for NULL
		body = body[4:]
		if length < 0 {
			parameters = append(parameters, "")
			continue
		}
		value := body[:length]
		body = body[length:]
		text := string(value)
		if isBinary := len(formats) > 0 && formats[min(i, len(formats)-1)] == 1; isBinary && length == 8 {
			text = strconv.FormatInt(int64(binary.BigEndian.Uint64(value)), 10) //nolint:gosec // as it was sent
		}
		parameters = append(parameters, text)
	}
	return parameters
}

func (c *conversation) run(b bound) {
	c.current.statements = append(c.current.statements, b.statement)
	c.transaction = append(c.transaction, b)
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(b.statement)), " ")
	switch strings.TrimRight(word, ";") {
	case "begin":
		c.inside, c.transaction = true, nil
	case "commit":
		c.inside, c.current.commits = false, true
		c.committed, c.transaction = append(c.committed, c.transaction), nil
	case "rollback":
		c.inside = false
	case "insert", "update", "delete", "with":
		if !c.inside && !strings.HasPrefix(b.statement, "WITH RECURSIVE") {
			c.current.commits = true
		}
	}
}
