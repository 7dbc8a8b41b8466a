package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"sundry/adapters/gormstore"
)

// figureReads bounds the readings of each page at each of the two accounts.
const figureReads = 20

// reader reads the figures of an account, with its key and as its owner at the dashboard.
type reader struct {
	base, key string
	browser   *http.Client
}

var (
	formToken    = regexp.MustCompile(`name="token" value="([0-9a-f]+)"`)
	demoPassword = regexp.MustCompile(`demo@sundry\.example   password  \S+`)
)

// signIn opens the dashboard as the owner of an account.
func (w *fixture) signIn(email, password, key string) (reader, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return reader{}, err
	}
	r := reader{w.base, key, &http.Client{Jar: jar}}
	page, err := r.read(w.ctx, "/dashboard/sign-in")
	if err != nil {
		return r, err
	}
	token := formToken.FindStringSubmatch(page)
	if token == nil {
		return r, errors.New("the sign-in has no form")
	}
	form := url.Values{"token": {token[1]}, "email": {email}, "password": {password}}
	req, err := http.NewRequestWithContext(w.ctx, http.MethodPost, w.base+"/dashboard/sign-in",
		strings.NewReader(form.Encode()))
	if err != nil {
		return r, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := r.browser.Do(req)
	if err != nil {
		return r, err
	}
	_ = res.Body.Close()
	if res.Request.URL.Path != "/dashboard" {
		return r, fmt.Errorf("signing in led to %s", res.Request.URL)
	}
	return r, nil
}

// read reads a page of the dashboard, or of the API.
func (r reader) read(ctx context.Context, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, nil)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(path, "/v1/") {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	res, err := r.browser.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %.200s", path, res.StatusCode, body)
	}
	return string(body), err
}

// figures measures what a creator reads of a year, at the account of the filled sales and at an empty one, in turns.
func figures(ctx context.Context, w *fixture) (string, error) {
	printed, err := w.program.Find(ctx, demoPassword)
	if err != nil {
		return "", err
	}
	words := strings.Fields(printed)
	filled, err := w.signIn(words[0], words[2], w.key)
	if err != nil {
		return "", err
	}
	owner, err := w.newSeller(map[string]any{"type": "DIGITAL", "title": "Type specimens"})
	if err != nil {
		return "", err
	}
	empty, err := w.signIn(owner.email, sellerPassword, owner.key)
	if err != nil {
		return "", err
	}
	year := "?from=" + time.Now().AddDate(-1, 0, 0).Format(time.DateOnly)
	var lines []string
	for _, page := range []struct{ name, path, shows string }{
		{"home", "/dashboard?days=12m", "Gross, last 12 months"},
		{"recurring revenue", "/dashboard/subscriptions/revenue?days=12m", "Recurring revenue"},
		{"revenue", "/v1/metrics/revenue" + year, `"completeThrough"`},
		{"subscriptions", "/v1/metrics/subscriptions" + year, `"data"`}, {"usage", "/v1/metrics/usage" + year, `"data"`},
	} {
		var took [2][]float64
		for turn := range 2 * (figureReads + 1) { // the first of each warms up
			begin := time.Now()
			body, err := []reader{filled, empty}[turn%2].read(ctx, page.path)
			if err == nil && !strings.Contains(body, page.shows) {
				err = fmt.Errorf("%s shows nothing of %q", page.path, page.shows)
			}
			if err != nil {
				return "", err
			}
			if turn >= 2 {
				took[turn%2] = append(took[turn%2], time.Since(begin).Seconds()*1000)
			}
		}
		a, b := median(took[0]), median(took[1])
		lines = append(lines, fmt.Sprintf("%s %.1f ms (slowest %.1f; empty %.1f, ratio %.2f)", page.name, a,
			slices.Max(took[0]), b, a/b))
	}
	var revenue struct {
		Data []struct{ Total struct{ Sales int } }
	}
	if err := w.call(http.MethodGet, "/v1/metrics/revenue"+year, nil, &revenue); err != nil {
		return "", err
	}
	sales := 0
	for _, currency := range revenue.Data {
		sales += currency.Total.Sales
	}
	if sales < filledRows {
		return "", fmt.Errorf("the figures have %d sales, %d are filled", sales, filledRows)
	}
	return fmt.Sprintf("%d sales: %s", sales, strings.Join(lines, "; ")), nil
}

// sumPostings adds the filled postings up in the stored sums, as the hourly sweeps would have done meanwhile.
func (w *fixture) sumPostings() error {
	store, err := gormstore.Open(w.ctx, w.address)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	return errors.Join(store.SumDays(w.ctx, time.Now()), store.SumBalances(w.ctx, time.Now()))
}
