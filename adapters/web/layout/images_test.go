package layout

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
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
	i := newImages([]byte("key"), otherHost{
		"https://a.example/logo.png": png,
		"https://a.example/page":     []byte("<html><script>alert(1)</script>"),
		"https://a.example/logo.svg": []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"https://a.example/huge.png": append(bytes.Clone(png), make([]byte, maxImage)...),
	})
	app := fiber.New()
	app.Get("/images/:signature/:address", i.serve)
	get := func(path string) (int, string, string) {
		response, err := app.Test(httptest.NewRequest("GET", path, nil))
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
	for _, url := range []string{"https://a.example/page", "https://a.example/logo.svg", "https://a.example/huge.png", "https://b.example/gone.png"} {
		if status, _, _ := get(i.path(url)); status != 404 {
			t.Errorf("%s: %d", url, status)
		}
	}
	other := newImages([]byte("another key"), nil)
	forged := strings.Replace(logo, i.sign("https://a.example/logo.png"), other.sign("https://a.example/logo.png"), 1)
	if status, _, _ := get(forged); status != 404 {
		t.Errorf("an address that no page named: %d", status)
	}
	if i.path("") != "" {
		t.Error("no image has an address")
	}
}

func TestImagesStayWithinTheirRoom(t *testing.T) {
	t.Parallel()
	i := newImages([]byte("key"), otherHost{})
	for n := range 50 {
		i.keep(strings.Repeat("a", n+1), &image{body: make([]byte, 1<<20)})
	}
	if i.size > maxImages || len(i.kept) != maxImages>>20 {
		t.Errorf("%d bytes in %d images are kept", i.size, len(i.kept))
	}
}
