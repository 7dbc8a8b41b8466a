package catalog_test

import (
	"bytes"
	"testing"

	"sundry/modules/catalog"
)

func FuzzReadDocument(f *testing.F) {
	for _, seed := range []string{
		`{"version":1,"listings":[]}`, `{"version":1,"listings":[{"key":"a"}]}`, `{"version":1} {}`, `[`, ``,
		`{"version":1e0,"listings":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, err := catalog.ReadDocument(raw)
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := read.Write(&once); err != nil {
			t.Fatalf("%q is read and can't be written: %v", raw, err)
		}
		again, err := catalog.ReadDocument(once.Bytes())
		if err != nil {
			t.Fatalf("%q is written as %q, which can't be read: %v", raw, once.Bytes(), err)
		}
		if err := again.Write(&twice); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("%q is written as %q, then as %q", raw, once.Bytes(), twice.Bytes())
		}
	})
}
