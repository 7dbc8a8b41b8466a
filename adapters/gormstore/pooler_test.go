package gormstore_test

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"sundry/adapters/gormstore"
)

// pooler refuses every connection as PgBouncer refuses settings that it does not know.
func pooler(t *testing.T) (address string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	const refusal = "SFATAL\x00VFATAL\x00C08P01\x00Munsupported startup parameter: plan_cache_mode\x00\x00"
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			var length uint32
			if binary.Read(conn, binary.BigEndian, &length) == nil {
				_, _ = io.CopyN(io.Discard, conn, int64(length)-4)
			}
			_, _ = conn.Write(append(binary.BigEndian.AppendUint32([]byte("E"), uint32(len(refusal)+4)), refusal...))
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}

func TestAPoolersRefusalNamesTheSetting(t *testing.T) {
	t.Parallel()
	store, err := gormstore.Open(t.Context(), "postgres://sundry@"+pooler(t)+"/sundry?sslmode=disable")
	if err == nil {
		defer func() { _ = store.Close() }()
		err = store.Migrate(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "DATABASE_DIRECT_URL") ||
		!strings.Contains(err.Error(), "unsupported startup parameter") {
		t.Errorf("%v, want it to name DATABASE_DIRECT_URL", err)
	}
}
