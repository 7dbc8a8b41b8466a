package contract

import (
	"bytes"
	"crypto/rand"
	"testing"

	"sundry/core/file"
	"sundry/ports"
)

// FileStorage is the suite of ports.FileStorage.
func FileStorage(t *testing.T, storage ports.FileStorage) {
	t.Helper()
	folder := rand.Text()
	key := func(name string) string { return folder + "/" + name }
	put := func(t *testing.T, name string, part []byte) {
		t.Helper()
		if err := storage.Put(t.Context(), key(name), part); err != nil {
			t.Fatal(err)
		}
	}
	want := func(t *testing.T, name string, part []byte) {
		t.Helper()
		got, err := storage.Get(t.Context(), key(name))
		if err != nil || !bytes.Equal(got, part) {
			t.Errorf("%s has %d bytes, %v, want %d", name, len(got), err, len(part))
		}
	}
	missing := func(t *testing.T, name string) {
		t.Helper()
		_, err := storage.Get(t.Context(), key(name))
		wantError(t, name, err, ports.ErrNotFound)
	}
	for name, test := range map[string]func(t *testing.T){
		"keeps the largest part as it is": func(t *testing.T) {
			part := make([]byte, file.PartSize)
			_, _ = rand.Read(part) // it never fails
			put(t, "large", part)
			want(t, "large", part)
		},
		"replaces a part": func(t *testing.T) {
			put(t, "again", []byte("one"))
			put(t, "again", []byte("two, which is longer"))
			want(t, "again", []byte("two, which is longer"))
		},
		"deletes a part and no other": func(t *testing.T) {
			put(t, "one", []byte("1"))
			put(t, "other", []byte("2"))
			for range 2 { // the second time it is not there
				if err := storage.Delete(t.Context(), key("one")); err != nil {
					t.Fatal(err)
				}
			}
			missing(t, "one")
			want(t, "other", []byte("2"))
		},
		"has no part that was never put": func(t *testing.T) {
			missing(t, "never")
			if err := storage.Delete(t.Context(), key("never")); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}
