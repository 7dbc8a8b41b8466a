package httpapi

import (
	"io"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
)

func TestTheClientIsTheFirstHopThatIsNoProxyOfOurs(t *testing.T) {
	t.Parallel()
	ours := netip.MustParsePrefix("10.0.0.0/8")
	cases := map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"without a proxy it is the peer": {"203.0.113.7:4711", nil, "203.0.113.7/32"},
		"an untrusted client's header is not believed": {
			"203.0.113.7:4711", []string{"198.51.100.1"}, "203.0.113.7/32",
		},
		"our proxy's header is": {
			"10.0.0.1:4711", []string{"198.51.100.1"}, "198.51.100.1/32",
		},
		"what the client wrote before it is not": {
			"10.0.0.1:4711", []string{"192.0.2.99, 198.51.100.1"}, "198.51.100.1/32",
		},
		"nor in a header of its own": {
			"10.0.0.1:4711", []string{"192.0.2.99", "198.51.100.1"}, "198.51.100.1/32",
		},
		"our proxies may stand in a row": {
			"10.0.0.1:4711", []string{"192.0.2.99, 198.51.100.1, 10.0.0.2,10.0.0.3"}, "198.51.100.1/32",
		},
		"a client of our own network is the farthest hop": {"10.0.0.1:4711", []string{"10.0.0.9"}, "10.0.0.9/32"},
		"what is no address ends the walk": {
			"10.0.0.1:4711", []string{"198.51.100.1, unknown, 10.0.0.2"}, "10.0.0.2/32",
		},
		"an empty header is ignored": {"10.0.0.1:4711", []string{""}, "10.0.0.1/32"},
		"a hop may have a port":      {"10.0.0.1:4711", []string{"198.51.100.1:80"}, "198.51.100.1/32"},
		"IPv6 counts by its /64":     {"[2001:db8:1:2:3:4:5:6]:4711", nil, "2001:db8:1:2::/64"},
		"IPv4 in IPv6's clothes is IPv4": {
			"[::ffff:10.0.0.1]:4711", []string{"::ffff:198.51.100.1"}, "198.51.100.1/32",
		},
		"a zone does not make another network":      {"[fe80::1%eth0]:4711", nil, "fe80::/64"},
		"a hop in brackets with a port is read too": {"10.0.0.1:4711", []string{"[2001:db8::1]:443"}, "2001:db8::/64"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer, ok := parseAddress(c.peer)
			if got := network(origin(peer, strings.Join(c.forwarded, ","), ours.Contains)).String(); !ok || got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestEachForwardingHeaderOfATrustedPeerIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trusted, want string
	}{
		"of a proxy of ours": {"0.0.0.0/0", "192.0.2.99/32"},
		"of nobody's":        {"10.0.0.0/8", "0.0.0.0/32"}, // fiber's tests come from 0.0.0.0
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := fiber.New()
			app.Get("/", func(request *fiber.Ctx) error {
				return request.SendString(TrustedProxies{netip.MustParsePrefix(c.trusted)}.ClientAddress(request))
			})
			request := httptest.NewRequest(fiber.MethodGet, "/", nil)
			request.Header.Add(fiber.HeaderXForwardedFor, "192.0.2.99")
			request.Header.Add(fiber.HeaderXForwardedFor, "198.51.100.1")
			response, err := app.Test(request)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			if got, err := io.ReadAll(response.Body); err != nil || string(got) != c.want {
				t.Errorf("got %s, want %s, %v", got, c.want, err)
			}
		})
	}
}
