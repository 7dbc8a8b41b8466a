package access

import (
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	core "sundry/core/access"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/modules/access"
)

func (h handlers) accessRoutes() []httpapi.Route {
	const path = "/v1/customer-access/:externalCustomerId"
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: path, Auth: httpapi.SecretKey, Handle: h.getAccess},
		{Method: fiber.MethodGet, Path: path + "/explain", Auth: httpapi.SecretKey, Handle: h.getAccessExplained},
		{
			Method: fiber.MethodPost, Path: path + "/grants", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, Handle: h.postGrant,
		},
		{Method: fiber.MethodDelete, Path: path + "/grants/:id", Auth: httpapi.SecretKey, Handle: h.deleteGrant},
		{
			Method: fiber.MethodPost, Path: path + "/credits/consume", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, WhileSuspended: true, Handle: h.postCreditUse,
		},
	}
}

// decodedCustomer is the integrator's own id of the customer, as the path names it: percent-encoded, so that it may
// hold slashes and spaces.
func decodedCustomer(c *fiber.Ctx) (string, error) {
	const field = "externalCustomerId"
	decoded, err := url.PathUnescape(c.Params(field))
	if err != nil || !utf8.ValidString(decoded) {
		return "", fault.Invalid(fault.Detail{
			Field: field, Code: fault.DetailMalformed, Message: "Expected percent-encoded UTF-8.",
		})
	}
	return decoded, nil
}

// knownCustomer is decodedCustomer with the form checked, for use cases that do not check it themselves.
func knownCustomer(c *fiber.Ctx) (string, error) {
	decoded, err := decodedCustomer(c)
	if err != nil {
		return "", err
	}
	var f fault.Violations
	customer.ValidateExternalID("externalCustomerId", decoded, &f)
	return decoded, f.Err()
}

// getAccess is the hot path: the bytes and their tag come ready from the store.
func (h handlers) getAccess(c *fiber.Ctx) error {
	var f fault.Violations
	externalID, err := knownCustomer(c)
	if err := f.Merge(err); err != nil {
		return err
	}
	after, wait := waitQuery(c, &f)
	if err := f.Err(); err != nil {
		return err
	}
	var d core.Document
	if wait == 0 {
		d, err = h.Access.Snapshot(c.UserContext(), httpapi.Account(c), externalID)
	} else {
		ctx, stop := httpapi.ContextUntilDisconnect(c)
		d, err = h.Access.Wait(ctx, httpapi.Account(c), externalID, after, wait)
		stop()
	}
	if err != nil {
		return err
	}
	return httpapi.SendWithETag(c, d.ETag, d.Body)
}

// waitQuery reads ?afterVersion= and ?waitSeconds=.
func waitQuery(c *fiber.Ctx, f *fault.Violations) (after int64, wait time.Duration) {
	version, seconds := c.Query("afterVersion"), c.Query("waitSeconds")
	if version != "" {
		n, err := strconv.ParseInt(version, 10, 64)
		f.Check(
			err == nil && n >= 0, "afterVersion", fault.DetailOutOfRange,
			"Expected the version of a snapshot: an integer, 0 or more.",
		)
		after = n
	}
	if seconds != "" {
		n, err := strconv.Atoi(seconds)
		longest := int(access.MaxWait / time.Second)
		f.Check(
			err == nil && n >= 0 && n <= longest, "waitSeconds", fault.DetailOutOfRange,
			"Expected an integer from 0 to 25.",
		)
		f.Check(
			version != "", "afterVersion", fault.DetailRequired,
			"Expected the version to wait beyond, because waitSeconds is given.",
		)
		wait = time.Duration(n) * time.Second
	}
	return after, wait
}
