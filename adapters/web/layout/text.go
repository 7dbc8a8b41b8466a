package layout

import (
	"bytes"
	"mime/multipart"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"sundry/core/fault"
)

// CheckForm refuses forms with a text that no database keeps: one that is not UTF-8 or has a NUL.
func (l *Layout) CheckForm(c *fiber.Ctx) error {
	if c.Method() != fiber.MethodPost {
		return c.Next()
	}
	sent := isTextOf(c.Request().PostArgs())
	if form, err := c.MultipartForm(); err == nil {
		sent = isTextIn(form)
	}
	if !sent {
		return l.Fail(c, notText())
	}
	return l.CheckQuery(c)
}

// CheckQuery refuses a query with such a text.
func (l *Layout) CheckQuery(c *fiber.Ctx) error {
	if !isTextOf(c.Context().QueryArgs()) {
		return l.Fail(c, notText())
	}
	return c.Next()
}

func notText() error { return fault.New(fault.ValidationFailed, "Expected UTF-8 text without NUL.") }

func isTextOf(args *fasthttp.Args) bool {
	for name, value := range args.All() {
		if !isText(name) || !isText(value) {
			return false
		}
	}
	return true
}

func isTextIn(form *multipart.Form) bool {
	for name, values := range form.Value {
		for _, value := range values {
			if !isText([]byte(name)) || !isText([]byte(value)) {
				return false
			}
		}
	}
	for _, files := range form.File {
		for _, file := range files {
			if !isText([]byte(file.Filename)) {
				return false
			}
		}
	}
	return true
}

func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }
