package loopback_test

import (
	"fmt"
	"net"
	"testing"

	"sundry/tests/loopback"
)

func TestNoAddressIsGivenTwice(t *testing.T) {
	t.Parallel()
	given := map[string]bool{}
	for range 500 {
		address, err := loopback.FreeAddress(t.Context())
		if err != nil || given[address] {
			t.Fatalf("%s, which was given before: %t, %v", address, given[address], err)
		}
		given[address] = true
	}
	begin, err := loopback.FreePorts(t.Context(), 0, 1, 13)
	if err != nil {
		t.Fatal(err)
	}
	for _, offset := range []int{0, 1, 13} {
		address := fmt.Sprintf("127.0.0.1:%d", begin+offset)
		if given[address] {
			t.Errorf("%s was given before", address)
		}
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}
}
