package sealer_test

import (
	"bytes"
	"testing"

	"sundry/adapters/sealer"
)

func TestWhatIsSealedOpensOnlyWithItsKeyAndUnchanged(t *testing.T) {
	t.Parallel()
	one, err := sealer.New(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	other, err := sealer.New(bytes.Repeat([]byte{2}, 32))
	if err != nil {
		t.Fatal(err)
	}
	sealed := one.Seal([]byte("secret"))
	if bytes.Contains(sealed, []byte("secret")) || bytes.Equal(sealed, one.Seal([]byte("secret"))) {
		t.Fatal("the seal shows what is inside, or repeats itself")
	}
	if plain, err := one.Open(sealed); err != nil || string(plain) != "secret" {
		t.Fatalf("%q, %v", plain, err)
	}
	if _, err := other.Open(sealed); err == nil {
		t.Fatal("another key opens it")
	}
	sealed[len(sealed)-1] ^= 1
	if _, err := one.Open(sealed); err == nil {
		t.Fatal("a changed seal opens")
	}
}
