package webhookhttp_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/adapters/webhookhttp"
)

// nameServer responds to every query over UDP with what lookup returns for it.
type nameServer struct {
	conn   net.PacketConn
	lookup func(name string, v6 bool) []netip.Addr
}

// DNS in as far as it is spoken here (RFC 1035, RFC 3596).
const (
	dnsHeader = 12
	typeA     = 1
	typeAAAA  = 28
)

// resolveBy is a resolver that asks a name server of the test.
func resolveBy(t *testing.T, lookup func(name string, v6 bool) []netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := nameServer{conn, lookup}
	go s.serve()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (s nameServer) serve() {
	question := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(question)
		if err != nil {
			return
		}
		if reply := s.reply(question[:n]); reply != nil {
			_, _ = s.conn.WriteTo(reply, from)
		}
	}
}

// reply repeats the question and adds the addresses of the kind that was asked for.
func (s nameServer) reply(q []byte) []byte {
	var labels []string
	at := dnsHeader
	for at < len(q) && q[at] != 0 {
		end := at + 1 + int(q[at])
		if end >= len(q) {
			return nil
		}
		labels = append(labels, string(q[at+1:end]))
		at = end
	}
	at++ // the root's empty label
	if at+4 > len(q) {
		return nil
	}
	kind := binary.BigEndian.Uint16(q[at:])
	var addresses []netip.Addr
	if kind == typeA || kind == typeAAAA {
		addresses = s.lookup(strings.Join(labels, "."), kind == typeAAAA)
	}
	reply := slices.Clone(q[:at+4])
	binary.BigEndian.PutUint16(reply[2:], 0x8580) // an authoritative response
	binary.BigEndian.PutUint16(reply[4:], 1)
	binary.BigEndian.PutUint16(reply[6:], uint16(len(addresses)))
	binary.BigEndian.PutUint32(reply[8:], 0)
	for _, address := range addresses {
		data := address.AsSlice()
		reply = append(reply, 0xc0, dnsHeader) // the name of the question
		reply = binary.BigEndian.AppendUint16(reply, kind)
		reply = append(reply, 0, 1, 0, 0, 0, 0) // Internet, to be forgotten at once
		reply = binary.BigEndian.AppendUint16(reply, uint16(len(data)))
		reply = append(reply, data...)
	}
	return reply
}

// of is the addresses of one kind, in order.
func of(v6 bool, addresses ...string) []netip.Addr {
	var all []netip.Addr
	for _, a := range addresses {
		if parsed := netip.MustParseAddr(a); parsed.Is6() == v6 {
			all = append(all, parsed)
		}
	}
	return all
}

var errDialled = errors.New("dialled, as far as the test is concerned")

// watch collects what the guard lets through, and lets nothing leave the machine.
type watch struct {
	mu  sync.Mutex
	let []string
}

func (w *watch) through(address string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	host, _, _ := net.SplitHostPort(address)
	w.let = append(w.let, host)
	return errDialled
}

func (w *watch) passed() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.let)
	return strings.Join(w.let, " ")
}

func TestWhatANameLeadsToIsJudgedByTheAddressAtTheDial(t *testing.T) {
	t.Parallel()
	const public, public6 = "93.184.216.34", "2606:4700::1111"
	for _, c := range []struct {
		name      string
		addresses []string
		want      string // what is dialled
	}{
		{"public", []string{public}, public},
		{"public, IPv6", []string{public6}, public6},
		{"loopback", []string{"127.0.0.1"}, ""},
		{"loopback, IPv6", []string{"::1"}, ""},
		{"metadata", []string{"169.254.169.254"}, ""},
		{"metadata, IPv6", []string{"fd00:ec2::254"}, ""},
		{"private", []string{"10.0.0.1", "172.16.0.1", "192.168.1.1"}, ""},
		{"shared", []string{"100.64.0.1"}, ""},
		{"mapped loopback", []string{"::ffff:127.0.0.1"}, ""},
		{"mapped metadata", []string{"::ffff:169.254.169.254"}, ""},
		{"NAT64 of loopback", []string{"64:ff9b::127.0.0.1"}, ""},
		{"NAT64 of metadata", []string{"64:ff9b::a9fe:a9fe"}, ""},
		{"NAT64 of a private address", []string{"64:ff9b::a00:1"}, ""},
		{"6to4 of loopback", []string{"2002:7f00:1::"}, ""},
		{"6to4 of a private address", []string{"2002:c0a8:101::1"}, ""},
		{"compatible", []string{"::127.0.0.1"}, ""},
		{"one private before one public", []string{"10.0.0.1", public}, public},
		{"one public before one private", []string{public, "10.0.0.1"}, public},
		{"private in one family, public in the other", []string{"127.0.0.1", public6}, public6},
		{"public in one family, private in the other", []string{public, "::1", "fe80::1"}, public},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var w watch
			resolver := resolveBy(t, func(_ string, v6 bool) []netip.Addr { return of(v6, c.addresses...) })
			_, err := send(t, webhookhttp.NewWatched(resolver, w.through), "https://hooks.example.com/?token=secret",
				5*time.Second)
			if err == nil {
				t.Fatal("the dial of the test cannot succeed")
			}
			mustBeShort(t, err)
			if got := w.passed(); got != c.want {
				t.Errorf("dialled %q, want %q", got, c.want)
			}
			if c.want == "" && err.Error() != "the address is not public" {
				t.Errorf("refused with %q", err)
			}
		})
	}
}

// TestANameThatChangesItsMindReachesNothingInside gets a public address first and one inside from then on, as a name
// server would that waits for the check to be over.
func TestANameThatChangesItsMindReachesNothingInside(t *testing.T) {
	t.Parallel()
	var reached, asked atomic.Int32
	server := receiver(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server, "http://"))
	resolver := resolveBy(t, func(_ string, v6 bool) []netip.Addr {
		if v6 {
			return nil
		}
		if asked.Add(1) == 1 {
			return of(false, "93.184.216.34")
		}
		return of(false, "127.0.0.1")
	})
	var w watch
	sender := webhookhttp.NewWatched(resolver, w.through)
	for range 3 {
		if response, err := send(t, sender, "http://hooks.example.com:"+port+"/", 5*time.Second); err == nil {
			t.Errorf("responded with %+v", response)
		}
	}
	if got := w.passed(); got != "93.184.216.34" || asked.Load() != 3 {
		t.Errorf("after %d questions dialled %q, want the public address once", asked.Load(), got)
	}
	if reached.Load() > 0 {
		t.Error("a receiver on loopback was reached")
	}
}

func TestAnAttemptEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	if webhookhttp.Timeout != 15*time.Second {
		t.Errorf("an attempt may take %s, want 15 s", webhookhttp.Timeout)
	}
	silent := raw(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) })
	slow := raw(t, func(c net.Conn) {
		_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx"))
		drip(c, strings.Repeat("x", 50))
	})
	for name, url := range map[string]string{"no response": silent, "a response that never ends": slow} {
		begin := time.Now()
		_, err := send(t, webhookhttp.NewHasty(300*time.Millisecond), url, time.Minute)
		if took := time.Since(begin); err == nil || err.Error() != "no response within 300ms" || took > 10*time.Second {
			t.Errorf("%s: %v after %s", name, err, took)
		}
	}
}
