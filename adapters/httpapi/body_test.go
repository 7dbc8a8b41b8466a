package httpapi

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// firstRead records how much memory was there for the first read of a body, which then fails.
type firstRead struct{ offered int }

func (r *firstRead) Read(p []byte) (int, error) {
	r.offered = len(p)
	return 0, errors.New("cut off")
}

func bodyFrom(stream io.Reader, length int) ([]byte, error) {
	var r fasthttp.Request
	r.SetBodyStream(stream, length)
	r.Header.SetContentLength(length)
	return bodyOf(&r)
}

func TestBodyOf_TakesNoMemoryForWhatIsOnlyAnnounced(t *testing.T) {
	t.Parallel()
	for _, length := range []int{maxBody, 10, -1} {
		var stream firstRead
		if _, err := bodyFrom(&stream, length); err == nil || stream.offered == 0 || stream.offered > earlyBody {
			t.Errorf("%d bytes were ready for a body of %d that does not come: %v", stream.offered, length, err)
		}
	}
}

func TestBodyOf_ReadsNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size, length int
		err          error
	}{
		"nothing":                      {0, 0, nil},
		"a short body":                 {5, 5, nil},
		"a long one":                   {earlyBody + 1, earlyBody + 1, nil},
		"the longest":                  {maxBody, maxBody, nil},
		"short chunks":                 {5, -1, nil},
		"no chunk":                     {0, -1, nil},
		"the longest in chunks":        {maxBody, -1, nil},
		"too long in chunks":           {maxBody + 1, -1, fasthttp.ErrBodyTooLarge},
		"much too long in chunks":      {4 * maxBody, -1, fasthttp.ErrBodyTooLarge},
		"cut off at once":              {0, 6, io.EOF},
		"cut off":                      {5, 6, io.ErrUnexpectedEOF},
		"cut off behind its beginning": {earlyBody + 1, maxBody, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream := strings.NewReader(strings.Repeat("a", c.size))
			body, err := bodyFrom(stream, c.length)
			if !errors.Is(err, c.err) || c.err == nil && len(body) != c.size {
				t.Errorf("%d of %d bytes, %v; want %v", len(body), c.size, err, c.err)
			}
			if read := c.size - stream.Len(); read > maxBody+1 {
				t.Errorf("%d bytes were read", read)
			}
		})
	}
}

func TestABodyArrivesWholeOverTheSocket(t *testing.T) {
	t.Parallel()
	var got []int
	address := listening(t, io.Discard, 0, Area{Routes: []Route{{
		Method: fiber.MethodPut, Path: "/v1/body", Auth: Public, Handle: func(c *fiber.Ctx) error {
			got = append(got, len(c.BodyRaw()))
			return c.SendStatus(fiber.StatusNoContent)
		},
	}}})
	const put = "PUT /v1/body HTTP/1.1\r\nHost: x\r\n"
	const last = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	whole := strings.Repeat("a", maxBody)
	response := exchange(t, address, put+"Content-Length: 1048576\r\n\r\n"+whole+
		put+"Transfer-Encoding: chunked\r\n\r\n100000\r\n"+whole+"\r\n0\r\n\r\n"+put+"Content-Length: 0\r\n\r\n"+last)
	if len(got) != 3 || got[0] != maxBody || got[1] != maxBody || got[2] != 0 ||
		strings.Count(response, "HTTP/1.1 204") != 3 || strings.Count(response, "HTTP/1.1 200") != 1 {
		t.Errorf("the bodies have %v bytes, and the responses are %.2000q", got, response)
	}
}
