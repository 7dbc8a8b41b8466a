package httpapi

import (
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{"", "MXxsc3RfMQ", "fA", "LTkyMjMzNzIwMzY4NTQ3NzU4MDh8YQ", "MXwA", "%", strings.Repeat("A", 500)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		cursor, ok := parseCursor(raw)
		if !ok {
			return
		}
		if cursor.ID == "" || len(cursor.ID) > maxCursorID || !utf8.ValidString(cursor.ID) || strings.Contains(cursor.ID, "\x00") {
			t.Errorf("%q gives an id that no query may have: %q", raw, cursor.ID)
		}
		if again, ok := parseCursor(*FormatCursor(cursor)); !ok || again != cursor {
			t.Errorf("%q gives %+v, which reads back as %+v", raw, cursor, again)
		}
	})
}

func FuzzOrigin(f *testing.F) {
	for _, seed := range []string{"", "203.0.113.9", "203.0.113.9, 10.0.0.2", "[2001:db8::1]:443,10.0.0.1", "::ffff:10.0.0.1", "fe80::1%eth0", ",,", "a"} {
		f.Add(seed)
	}
	proxy := netip.MustParseAddr("10.0.0.1")
	f.Fuzz(func(t *testing.T, forwarded string) {
		client := netip.MustParseAddr("198.51.100.7")
		if got := origin(client, forwarded, netip.Addr.IsPrivate); got != client {
			t.Errorf("%q of a client is believed: %s", forwarded, got)
		}
		got := origin(proxy, forwarded, netip.Addr.IsPrivate)
		if !got.IsValid() || got.Zone() != "" || got.Is4In6() {
			t.Errorf("%q gives %s", forwarded, got)
		}
		if network(got).Bits() > got.BitLen() {
			t.Errorf("%q counts as %s", forwarded, network(got))
		}
	})
}

func FuzzMatchesETag(f *testing.F) {
	for _, seed := range []string{"", "*", `"a"`, `W/"a"`, `"b", "a"`, ",", `""`} {
		f.Add(seed)
	}
	const etag = `"a"`
	f.Fuzz(func(t *testing.T, header string) {
		if matchesETag(header, etag) && !strings.Contains(header, etag) && !strings.Contains(header, "*") {
			t.Errorf("%q matches %s", header, etag)
		}
	})
}
