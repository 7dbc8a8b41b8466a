package encrypter_test

import (
	"bytes"
	"testing"

	"sundry/adapters/encrypter"
	"sundry/core/secret"
)

func TestDecryptNeedsTheKeyAndUnchangedBytes(t *testing.T) {
	t.Parallel()
	one := encrypter.New(secret.Fixed(bytes.Repeat([]byte{1}, 32)))
	other := encrypter.New(secret.Fixed(bytes.Repeat([]byte{2}, 32)))
	ciphertext := one.Encrypt([]byte("secret"))
	if bytes.Contains(ciphertext, []byte("secret")) || bytes.Equal(ciphertext, one.Encrypt([]byte("secret"))) {
		t.Fatal("the ciphertext shows the plaintext, or repeats itself")
	}
	if plain, err := one.Decrypt(ciphertext); err != nil || string(plain) != "secret" {
		t.Fatalf("%q, %v", plain, err)
	}
	if _, err := other.Decrypt(ciphertext); err == nil {
		t.Fatal("another key decrypts it")
	}
	ciphertext[len(ciphertext)-1] ^= 1
	if _, err := one.Decrypt(ciphertext); err == nil {
		t.Fatal("a changed ciphertext is decrypted")
	}
}
