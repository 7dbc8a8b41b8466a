package httpapi

import (
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/identity"
	"sundry/core/requestlog"
)

// RequestRecorder keeps what integrators ask for. It neither waits nor fails.
type RequestRecorder interface{ Record(r requestlog.Record) }

// caller identifies the account and the secret key of a request.
type caller struct{ account, key string }

func setCaller(c *fiber.Ctx, account string) {
	c.Locals("caller", caller{account, identity.KeyLabel(BearerToken(c))})
}

// recordRequest hands a request with a valid secret key to the log. Neither bodies nor the query are in it.
func (s *Server) recordRequest(c *fiber.Ctx, began time.Time, took time.Duration) {
	from, known := c.Locals("caller").(caller)
	if !known || s.Requests == nil {
		return
	}
	s.Requests.Record(requestlog.Record{
		ID: requestID(c), CreatorID: from.account, Method: c.Method(), Path: c.Path(),
		Status: c.Response().StatusCode(), Code: codeOf(c),
		Duration: took, Key: from.key, At: began.UTC(),
	})
}

// codeOf is the code of the error that a response carries, "" for none. Some refusals come with the object that they
// are about, so the body shows it, no matter which handler wrote it.
func codeOf(c *fiber.Ctx) string {
	if c.Response().StatusCode() < fiber.StatusBadRequest {
		return ""
	}
	var refusal struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(c.Response().Body(), &refusal) // a body that is no error has no code
	return refusal.Code
}
