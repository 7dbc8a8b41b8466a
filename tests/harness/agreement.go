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
	body, ok := a.TryAgreed(t, s, payment)
	if !ok {
		t.Fatalf("the page of %s names no agreement", s.ID)
	}
	return body
}

// TryAgreed is Agreed of a session that may be over; ok is false where its page names no agreement.
func (a *App) TryAgreed(t testing.TB, s Session, payment JSON) (body JSON, ok bool) {
	t.Helper()
	page := a.AskUnjudged(t, Request{Method: http.MethodGet, Path: "/c/" + s.Secret()})
	found := agreementKey.FindSubmatch(page.Body)
	if found == nil {
		return nil, false
	}
	body = maps.Clone(payment)
	body["agreement"], body["immediateSupply"] = string(found[1]), true
	return body, true
}
