package harness

import (
	"maps"
	"net/http"
	"regexp"
	"testing"
)

var agreementKey = regexp.MustCompile(`"agreement":"([^"]+)"`)

// Agreed returns the body of a payment on a session's page with what a buyer agrees to there: they read the texts and
// tick the box that asks for supply at once.
func (a *App) Agreed(t testing.TB, s Session, payment JSON) JSON {
	t.Helper()
	page := a.AskUnjudged(t, Request{Method: http.MethodGet, Path: "/c/" + s.Secret()}).Want(t, http.StatusOK)
	found := agreementKey.FindSubmatch(page.Body)
	if found == nil {
		t.Fatalf("the page names no agreement:\n%s", page.Body)
	}
	body := maps.Clone(payment)
	body["agreement"], body["immediateSupply"] = string(found[1]), true
	return body
}
