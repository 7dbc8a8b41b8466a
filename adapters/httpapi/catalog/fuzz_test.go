package catalog_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"sundry/adapters/httpapi/strictjson"
	"sundry/modules/catalog"
)

// readDocument reads a catalog as the route and the command do.
func readDocument(raw []byte) (d catalog.Document, err error) {
	if err := strictjson.Decode(raw, &d); err != nil {
		return d, err
	}
	return d, d.Check()
}

func FuzzReadDocument(f *testing.F) {
	for _, seed := range []string{
		`{"version":1,"listings":[]}`, `{"version":1,"listings":[{"key":"a"}]}`, `{"version":1} {}`, `[`, ``,
		`{"version":1e0,"listings":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, err := readDocument(raw)
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := read.Write(&once); err != nil {
			t.Fatalf("%q is read and can't be written: %v", raw, err)
		}
		// Members that a document lacks are written as null, which an export never has and the strict reading refuses.
		var again catalog.Document
		decoder := json.NewDecoder(bytes.NewReader(once.Bytes()))
		decoder.DisallowUnknownFields()
		decoder.UseNumber() // integers of metadata stay exact
		if err := decoder.Decode(&again); err != nil {
			t.Fatalf("%q is written as %q, which can't be read: %v", raw, once.Bytes(), err)
		}
		if err := again.Write(&twice); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("%q is written as %q, then as %q", raw, once.Bytes(), twice.Bytes())
		}
	})
}
