// Command go-overlay is a small shop: it sells membership in Sundry's overlay and lets members in. It knows the public
// API only.
package main

import (
	"cmp"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"time"

	sundry "sundry/sdk/go"
)

//go:embed shop.html
var shopHTML string

var shopPage = template.Must(template.New("shop").Parse(shopHTML))

// server holds the configuration from the environment, and the clients of the service.
type server struct {
	service string // its address
	self    string // address of the shop itself
	listing string // catalog key of what is sold
	sundry  *sundry.Client
	// access answers from what it knew last while the service is down.
	access *sundry.AccessCache
}

func main() {
	addr := cmp.Or(os.Getenv("ADDR"), "127.0.0.1:3000")
	service := cmp.Or(os.Getenv("SUNDRY_URL"), "http://127.0.0.1:8080")
	client := sundry.New(sundry.Config{BaseURL: service, Key: os.Getenv("SUNDRY_KEY")})
	s := &server{
		service: service, self: "http://" + addr, listing: cmp.Or(os.Getenv("LISTING"), "workshop-club"),
		sundry: client, access: client.NewAccessCache(0, 0),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("POST /checkout", s.checkout)
	mux.HandleFunc("GET /members", s.members)
	log.Println("the shop is open at", s.self)
	server := &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// offer is the plan that the shop sells, at the first of its prices.
type offer struct {
	Plan  string
	Price price
}

type price struct {
	AmountInCents int64
	Currency      string
	Interval      string // empty for a one-time price
	IntervalCount int
}

// Per says how often the price is charged.
func (p price) Per() string {
	switch {
	case p.Interval == "":
		return ""
	case p.IntervalCount == 1:
		return "per " + p.Interval
	default:
		return fmt.Sprintf("every %d %ss", p.IntervalCount, p.Interval)
	}
}

// offer reads from the recipe what the shop sells: the listing's default plan, else its first.
func (s *server) offer(r *http.Request) (title string, o offer, err error) {
	var recipe struct {
		Title string
		Plans []struct {
			Key       string
			IsDefault bool
			Prices    []price
		}
	}
	path := "/v1/catalog/listings/" + url.PathEscape(s.listing) + "/recipe"
	if err := s.sundry.Do(r.Context(), http.MethodGet, path, nil, &recipe); err != nil {
		return "", o, err
	}
	for _, plan := range recipe.Plans {
		if len(plan.Prices) > 0 && (o.Plan == "" || plan.IsDefault) {
			o = offer{plan.Key, plan.Prices[0]}
		}
	}
	if o.Plan == "" {
		return "", o, fmt.Errorf("%s has no price", s.listing)
	}
	return recipe.Title, o, nil
}

// home shows what is sold, at the price that the recipe has now.
func (s *server) home(w http.ResponseWriter, r *http.Request) {
	title, o, err := s.offer(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	user(w, r)
	if err := shopPage.Execute(w, map[string]any{"Sundry": s.service, "Title": title, "Offer": o}); err != nil {
		log.Println("home:", err)
	}
}

// checkout opens a session for the overlay, which sells what home shows.
func (s *server) checkout(w http.ResponseWriter, r *http.Request) {
	_, o, err := s.offer(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	session, err := s.sundry.CreateSession(r.Context(), sundry.NewSession{
		Catalog: &sundry.CatalogReference{
			Listing: s.listing, Plan: o.Plan, Interval: o.Price.Interval, IntervalCount: o.Price.IntervalCount,
			Currency: o.Price.Currency,
		},
		ExternalCustomerID: user(w, r), UIMode: "embedded", SuccessURL: s.self + "/members", CancelURL: s.self + "/",
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"id": session.ID, "embedUrl": session.EmbedURL})
}

// members asks what the user may use: never the browser, which can claim anything.
func (s *server) members(w http.ResponseWriter, r *http.Request) {
	access, err := s.access.Get(r.Context(), user(w, r))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if !access.HasPlan(s.listing, "") {
		http.Error(w, "members only", http.StatusForbidden)
		return
	}
	_, _ = io.WriteString(w, "Welcome, member!\n")
}

// user names the visitor in a cookie; a real shop has accounts.
func user(w http.ResponseWriter, r *http.Request) string {
	if cookie, err := r.Cookie("user"); err == nil {
		return cookie.Value
	}
	id := "user-" + rand.Text()
	http.SetCookie(w, &http.Cookie{Name: "user", Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	return id
}
