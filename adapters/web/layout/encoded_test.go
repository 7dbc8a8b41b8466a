package layout

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

func TestABodyIsCompressedOnceForEachEncoding(t *testing.T) {
	t.Parallel()
	body := bytes.Repeat([]byte("the same for all "), 1000)
	kept := NewEncoded(body)
	for name, compressed := range map[string]func() []byte{"gzip": kept.gzip, "br": kept.brotli} {
		if first, second := compressed(), compressed(); &first[0] != &second[0] {
			t.Errorf("%s: it is compressed again", name)
		}
	}
	app := fiber.New()
	app.Get("/", kept.Send)
	for accepted, want := range map[string]string{
		"": "", "identity": "", "gzip": "gzip", "deflate, gzip": "gzip", "br": "br", "gzip, deflate, br": "br",
	} {
		request := httptest.NewRequest("GET", "/", nil)
		request.Header.Set("Accept-Encoding", accepted)
		response, err := app.Test(request, -1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		encoding := response.Header.Get("Content-Encoding")
		if err != nil || encoding != want || response.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %q, Vary %q, %v", accepted, encoding, response.Header.Get("Vary"), err)
		}
		if plain := decoded(t, encoding, got); !bytes.Equal(plain, body) {
			t.Errorf("%q: %d bytes, want %d", accepted, len(plain), len(body))
		}
	}
}

func decoded(t *testing.T, encoding string, body []byte) []byte {
	t.Helper()
	var plain []byte
	var err error
	switch encoding {
	case "gzip":
		var r io.Reader
		if r, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			plain, err = io.ReadAll(r)
		}
	case "br":
		plain, err = fasthttp.AppendUnbrotliBytes(nil, body)
	default:
		plain = body
	}
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
