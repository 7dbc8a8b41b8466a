package layout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/secret"
)

type otherHost map[string][]byte

func (h otherHost) Fetch(_ context.Context, url string) ([]byte, error) {
	if body, ok := h[url]; ok {
		delete(h, url) // it is asked once
		return body, nil
	}
	return nil, errors.New("the address cannot be reached")
}

func TestImagesOfOtherHostsAreShownAsOurs(t *testing.T) {
	t.Parallel()
	png := append([]byte("\x89PNG\x0D\x0A\x1A\x0A"), bytes.Repeat([]byte{1}, 100)...)
	i := newImages(secret.Fixed([]byte("key")), otherHost{
		"https://a.example/logo.png": png,
		"https://a.example/page":     []byte("<html><script>alert(1)</script>"),
		"https://a.example/logo.svg": []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"https://a.example/huge.png": append(bytes.Clone(png), make([]byte, maxImage)...),
	})
	app := fiber.New()
	app.Get("/images/:signature/:address", i.serve)
	get := func(path string) (int, string, string) {
		response, err := app.Test(httptest.NewRequest("GET", path, nil), -1)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		return response.StatusCode, response.Header.Get("Content-Type"), response.Header.Get("Content-Security-Policy")
	}
	logo := i.path("https://a.example/logo.png")
	for range 2 { // again it comes from the cache
		if status, kind, policy := get(logo); status != 200 || kind != "image/png" || !strings.Contains(policy, "sandbox") {
			t.Errorf("the logo: %d, %s, %s", status, kind, policy)
		}
	}
	for _, url := range []string{"https://a.example/page", "https://a.example/logo.svg", "https://a.example/huge.png",
		"https://b.example/gone.png"} {
		if status, _, _ := get(i.path(url)); status != 404 {
			t.Errorf("%s: %d", url, status)
		}
	}
	other := newImages(secret.Fixed([]byte("another key")), nil)
	forged := strings.Replace(logo, sign(i.keys.Current(), "https://a.example/logo.png"), sign(other.keys.Current(), "https://a.example/logo.png"), 1)
	if status, _, _ := get(forged); status != 404 {
		t.Errorf("an address that no page named: %d", status)
	}
	if i.path("") != "" {
		t.Error("no image has an address")
	}
}

func TestImagesStayWithinTheirRoom(t *testing.T) {
	t.Parallel()
	i := newImages(secret.Fixed([]byte("key")), otherHost{})
	for n := range 50 {
		i.keep(strings.Repeat("a", n+1), &image{body: make([]byte, 1<<20)})
	}
	if i.size > maxImages || len(i.kept) != maxImages>>20 {
		t.Errorf("%d bytes in %d images are kept", i.size, len(i.kept))
	}
}

// hanging responds for one host only; any other never responds, until the fetcher gives up.
type hanging struct{ fetches atomic.Int32 }

func (h *hanging) Fetch(_ context.Context, url string) ([]byte, error) {
	h.fetches.Add(1)
	if strings.HasPrefix(url, "https://good.example/") {
		time.Sleep(10 * time.Millisecond)
		return []byte("\x89PNG\x0D\x0A\x1A\x0A"), nil
	}
	time.Sleep(5 * time.Second)
	return nil, errors.New("no response")
}

func TestHangingHostsDelayNoOtherPictures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host := &hanging{}
		i := newImages(secret.Fixed([]byte("key")), host)
		var all sync.WaitGroup
		for n := range 100 {
			all.Go(func() { i.get(t.Context(), fmt.Sprintf("https://h%d.evil.example/%d.png", n%7, n)) })
		}
		synctest.Wait()
		begin := time.Now()
		for range 20 {
			all.Go(func() {
				if found := i.get(t.Context(), "https://good.example/logo.png"); found.contentType != "image/png" {
					t.Error("a stranger's picture is not shown")
				}
				if took := time.Since(begin); took > 10*time.Millisecond {
					t.Errorf("a stranger's picture took %s", took)
				}
			})
		}
		time.Sleep(slotWait + time.Millisecond)
		if late := i.get(t.Context(), "https://evil.example/late.png"); late.contentType != "" ||
			time.Since(begin) > 2*slotWait+time.Millisecond {
			t.Errorf("without a slot %q came after %s", late.contentType, time.Since(begin))
		}
		all.Wait()
		if got := host.fetches.Load(); got != siteFetches+1 {
			t.Errorf("%d fetches, want %d of the host that hangs and one of the other", got, siteFetches+1)
		}
		if len(i.sites) > 0 || len(i.flights) > 0 || len(i.slots) > 0 {
			t.Errorf("%d sites, %d flights and %d slots are left", len(i.sites), len(i.flights), len(i.slots))
		}
	})
}

func TestHostsOfOneOwnerShareSlots(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://example.com/a":          "example.com",
		"https://a.b.EXAMPLE.com:8443/a": "example.com",
		"https://a.b.example.co.uk/a":    "example.co.uk",
		"https://93.184.216.34/a":        "93.184.216.34",
		"https://[2606:4700::1111]/a":    "2606:4700::1111",
		"https://localhost/a":            "localhost",
		"https://a.example.com./a":       "example.com",
	} {
		if got := siteOf(url); got != want {
			t.Errorf("%s is of %q, want %q", url, got, want)
		}
	}
}
