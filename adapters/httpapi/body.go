package httpapi

import (
	"bytes"
	"io"

	"github.com/valyala/fasthttp"
)

// earlyBody is the part of a body for which memory is taken before it has arrived.
const earlyBody = 64 << 10

// withBody reads the body of a request before any handler. The server itself would take as much memory as
// Content-Length announces, which costs a client that sends nothing else a few bytes.
func (s *Server) withBody(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		body, err := bodyOf(&c.Request)
		if err != nil {
			c.SetConnectionClose() // nobody knows where the next request begins
			s.app.Server().ErrorHandler(c, err)
			return
		}
		if body != nil {
			c.Request.SetBodyRaw(body)
		}
		next(c)
	}
}

// bodyOf returns the body of a request; nil where it has none. fasthttp.ErrBodyTooLarge.
func bodyOf(r *fasthttp.Request) ([]byte, error) {
	switch stream := r.BodyStream(); {
	case stream == nil:
		return nil, nil
	case len(r.Header.Peek(bodyTooLarge)) > 0:
		return nil, fasthttp.ErrBodyTooLarge
	case r.Header.ContentLength() < 0:
		return readRest(stream, nil, 0)
	default:
		length := r.Header.ContentLength()
		body := make([]byte, min(length, earlyBody))
		if _, err := io.ReadFull(stream, body); err != nil || len(body) == length {
			return body, err
		}
		body, err := readRest(stream, body, length)
		if err == nil && len(body) < length {
			err = io.ErrUnexpectedEOF
		}
		return body, err
	}
}

// readRest reads a body of about a length to its end, behind its beginning. fasthttp.ErrBodyTooLarge.
func readRest(stream io.Reader, beginning []byte, length int) ([]byte, error) {
	body := bytes.NewBuffer(beginning)
	body.Grow(max(length-len(beginning), 0) + bytes.MinRead)
	_, err := body.ReadFrom(io.LimitReader(stream, int64(maxBody+1-len(beginning))))
	if err == nil && body.Len() > maxBody {
		err = fasthttp.ErrBodyTooLarge
	}
	return body.Bytes(), err
}
