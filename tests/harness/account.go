package harness

import (
	"crypto/rand"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Password is every test creator's.
const Password = "correct horse battery"

// JSON is an object to send or to compare.
type JSON = map[string]any

// Account is a creator of the test's own, signed in and with a secret key.
type Account struct {
	*App
	ID           string
	Email        string
	Token        string
	RefreshToken string
	Key          string
}

// Unique is a text that no other test uses: lower-case letters and digits, made for slugs and e-mail addresses.
func Unique(prefix string) string { return prefix + "-" + strings.ToLower(rand.Text()[:12]) }

// NewAccount signs a creator up and makes a secret key.
func (a *App) NewAccount(t testing.TB) *Account {
	t.Helper()
	account := &Account{App: a, Email: Unique("ada") + "@example.com"}
	var signedIn struct {
		AccessToken, RefreshToken string
		Creator                   struct{ ID string }
	}
	a.patiently(t, Request{Method: http.MethodPost, Path: "/v1/auth/sign-up", Body: JSON{
		"email": account.Email, "password": Password, "displayName": "Ada's Workshop",
	}}).Want(t, http.StatusCreated).Into(t, &signedIn)
	account.ID, account.Token, account.RefreshToken = signedIn.Creator.ID, signedIn.AccessToken, signedIn.RefreshToken
	account.Key = account.NewKey(t)
	return account
}

// NewKey makes another secret key.
func (a *Account) NewKey(t testing.TB) string {
	t.Helper()
	var made struct{ Key string }
	a.AsCreator(t, http.MethodPost, "/v1/api-keys", JSON{"name": "tests"}).Want(t, http.StatusCreated).Into(t, &made)
	return made.Key
}

// patiently asks again while the program reports that it is busy: hashing passwords on a small machine.
func (a *App) patiently(t testing.TB, r Request) *Response {
	t.Helper()
	for range 3000 {
		response := a.Ask(t, r)
		if response.Status != http.StatusTooManyRequests {
			return response
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s %s is still rate limited after five minutes", r.Method, r.Path)
	return nil
}

// AsCreator asks with the access token.
func (a *Account) AsCreator(t testing.TB, method, path string, body any) *Response {
	t.Helper()
	return a.Ask(t, Request{Method: method, Path: path, Body: body, Bearer: a.Token})
}

// AsBackend asks with the secret key.
func (a *Account) AsBackend(t testing.TB, method, path string, body any) *Response {
	t.Helper()
	return a.Ask(t, Request{Method: method, Path: path, Body: body, Bearer: a.Key})
}

// Once asks with the secret key and an Idempotency-Key.
func (a *Account) Once(t testing.TB, key, method, path string, body any) *Response {
	t.Helper()
	return a.Ask(t, Request{
		Method: method, Path: path, Body: body, Bearer: a.Key, Headers: map[string]string{"Idempotency-Key": key},
	})
}

// Listing holds the members of a listing that tests read.
type Listing struct{ ID, Slug, CatalogKey, Status string }

// NewListing makes a draft. over replaces or adds members of a DIGITAL listing of €12.00.
func (a *Account) NewListing(t testing.TB, over JSON) Listing {
	t.Helper()
	body := JSON{
		"type": "DIGITAL", "slug": Unique("item"), "title": "Type specimens", "priceInCents": 1200, "currency": "eur",
	}
	maps.Copy(body, over)
	var made Listing
	a.AsCreator(t, http.MethodPost, "/v1/listings", body).Want(t, http.StatusCreated).Into(t, &made)
	return made
}

// Publish makes a draft ACTIVE.
func (a *Account) Publish(t testing.TB, listing Listing) Listing {
	t.Helper()
	var published Listing
	a.AsCreator(t, http.MethodPost, "/v1/listings/"+listing.ID+"/publish", nil).Want(t, http.StatusOK).Into(t, &published)
	return published
}

// Published is NewListing and Publish.
func (a *Account) Published(t testing.TB, over JSON) Listing {
	t.Helper()
	return a.Publish(t, a.NewListing(t, over))
}

// Session holds the members of a checkout session that tests read.
type Session struct{ ID, CheckoutURL, Status string }

// Secret is the last part of the session's checkoutUrl.
func (s Session) Secret() string { return s.CheckoutURL[strings.LastIndexByte(s.CheckoutURL, '/')+1:] }

// SessionBody is a session by catalog key for a customer. over replaces or adds members.
func SessionBody(listing Listing, plan, customer string, over JSON) JSON {
	body := JSON{
		"catalog":            JSON{"listing": listing.CatalogKey, "plan": plan},
		"externalCustomerId": customer, "successUrl": "https://shop.example/welcome",
		"cancelUrl": "https://shop.example/pricing",
	}
	for name, value := range over {
		if value == nil {
			delete(body, name)
			continue
		}
		body[name] = value
	}
	return body
}

// NewSession opens a checkout session for a listing's plan.
func (a *Account) NewSession(t testing.TB, listing Listing, plan, customer string, over JSON) Session {
	t.Helper()
	var made Session
	a.AsBackend(t, http.MethodPost, "/v1/checkout-sessions", SessionBody(listing, plan, customer, over)).Want(t,
		http.StatusCreated).Into(t, &made)
	return made
}

// The sandbox cards that tests use by name.
const (
	CardSucceeds     = "4242424242424242"
	CardDeclined     = "4000000000000002"
	CardAsksOnce     = "4000002500003155"
	CardAsksAlways   = "4000002760003184"
	CardTimesOut     = "4000000000009003"
	CardStaysPending = "4000000000009102"
	CardDisputed     = "4000000000000259"
)

// Pay pays a session as a buyer would.
func (a *Account) Pay(t testing.TB, session Session, card string) *Response {
	t.Helper()
	return a.AsBackend(t, http.MethodPost, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay", JSON{
		"cardNumber": card, "email": "grace@example.com",
	})
}

// Receipt reads the whole receipt.
func (a *Account) Receipt(t testing.TB, session Session) JSON {
	t.Helper()
	return a.AsBackend(t, http.MethodGet, "/v1/checkout-sessions/"+session.ID+"/receipt?headless=true", nil).Want(t,
		http.StatusOK).Map(t)
}

// Access reads a customer's snapshot.
func (a *Account) Access(t testing.TB, customer string) JSON {
	t.Helper()
	return a.AsBackend(t, http.MethodGet, "/v1/customer-access/"+customer, nil).Want(t, http.StatusOK).Map(t)
}
