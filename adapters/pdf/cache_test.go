package pdf

import (
	"testing"
	"time"

	"sundry/ports"
)

func TestADocumentIsRenderedOnce(t *testing.T) {
	t.Parallel()
	r := New()
	d := ports.Document{Title: "Invoice", Number: "1", IssuedAt: time.Unix(1_800_000_000, 0), Notes: []string{"Paid."}}
	get := func() []byte {
		t.Helper()
		content, err := r.PDF(d)
		if err != nil || len(content) == 0 {
			t.Fatalf("%d bytes, %v", len(content), err)
		}
		return content
	}
	first := get()
	if again := get(); &first[0] != &again[0] {
		t.Error("the same document is rendered again")
	}
	d.Notes = []string{"Refunded."}
	if changed := get(); &first[0] == &changed[0] {
		t.Error("a document that has changed is the old PDF")
	}
}

func TestKeptPDFsStayWithinTheirRoom(t *testing.T) {
	t.Parallel()
	r := New()
	for n := range 20 {
		r.cache.keep(keyOf(ports.Document{Lines: make([]ports.DocumentLine, n)}), make([]byte, 1<<20))
	}
	r.cache.keep(keyOf(ports.Document{Number: "huge"}), make([]byte, maxKept+1))
	if r.cache.size != maxKept || len(r.cache.kept) != maxKept>>20 {
		t.Errorf("%d bytes in %d PDFs are kept", r.cache.size, len(r.cache.kept))
	}
}
