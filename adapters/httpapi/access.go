package httpapi

import (
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"sundry/core/access"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/modules/entitlement"
)

func (s *Server) accessRoutes() []Route {
	const path = "/v1/customer-access/:externalCustomerId"
	return []Route{
		{Method: fiber.MethodGet, Path: path, Gate: SecretKey, Handle: s.getAccess},
	}
}

// customerParam is the integrator's own id of the customer, as the path names it: percent-encoded, so that it may hold
// slashes and spaces.
func customerParam(c *fiber.Ctx, f *fault.Faults) string {
	const field = "externalCustomerId"
	decoded, err := url.PathUnescape(c.Params(field))
	if f.Check(err == nil && utf8.ValidString(decoded), field, fault.DetailMalformed, "Expected percent-encoded UTF-8.") {
		customer.ValidateExternalID(field, decoded, f)
	}
	return decoded
}

// getAccess is the hot path: the bytes and their tag come ready from the store.
func (s *Server) getAccess(c *fiber.Ctx) error {
	var f fault.Faults
	externalID := customerParam(c, &f)
	after, wait := waitQuery(c, &f)
	if err := f.Err(); err != nil {
		return err
	}
	var d access.Document
	var err error
	if wait == 0 {
		d, err = s.Entitlement.Snapshot(c.UserContext(), account(c), externalID)
	} else {
		ctx, stop := whileConnected(c)
		d, err = s.Entitlement.Wait(ctx, account(c), externalID, after, wait)
		stop()
	}
	if err != nil {
		return err
	}
	return conditional(c, d.ETag, d.Body)
}

// waitQuery reads ?afterVersion= and ?waitSeconds=.
func waitQuery(c *fiber.Ctx, f *fault.Faults) (after int64, wait time.Duration) {
	version, seconds := c.Query("afterVersion"), c.Query("waitSeconds")
	if version != "" {
		n, err := strconv.ParseInt(version, 10, 64)
		f.Check(err == nil && n >= 0, "afterVersion", fault.DetailOutOfRange, "Expected the version of a snapshot: an integer, 0 or more.")
		after = n
	}
	if seconds != "" {
		n, err := strconv.Atoi(seconds)
		longest := int(entitlement.MaxWait / time.Second)
		f.Check(err == nil && n >= 0 && n <= longest, "waitSeconds", fault.DetailOutOfRange, "Expected an integer from 0 to 25.")
		f.Check(version != "", "afterVersion", fault.DetailRequired, "Expected the version to wait beyond, because waitSeconds is given.")
		wait = time.Duration(n) * time.Second
	}
	return after, wait
}
