package httpapi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/ports"
)

// down maps a route below /v1/down to the error that it fails with.
var down = map[string]error{
	"lost": fmt.Errorf("settle pay_1: %w: unexpected EOF of /srv/socket", ports.ErrDatabaseLost),
	"busy": fmt.Errorf("save listing lst_1: %w: SQLITE_BUSY of /srv/sundry.db", ports.ErrDatabaseBusy),
	"processor": fault.Wrap(
		fault.ProcessorUnavailable, "The card processor does not respond.", errors.New("dial 10.0.0.7: timeout"),
	),
	"soon":    &fault.Error{Code: fault.ProcessorUnavailable, Message: "Soon.", RetryAfter: 1500 * time.Millisecond},
	"unknown": errors.New("a secret of the driver"),
}

// A dependency that is down for a while is a 503 that says when to try again.
func TestAnOutageIsA503WithRetryAfter(t *testing.T) {
	t.Parallel()
	s := things(t, ports.Quota{})
	for what, want := range map[string]struct {
		status     int
		code       fault.Code
		retryAfter string
	}{
		"busy":      {503, fault.DatabaseBusy, "5"},
		"lost":      {503, fault.DatabaseBusy, "5"},
		"processor": {503, fault.ProcessorUnavailable, "5"},
		"soon":      {503, fault.ProcessorUnavailable, "2"},
		"unknown":   {500, fault.Internal, ""},
	} {
		response, body := call(t, s, fiber.MethodGet, "/v1/down/"+what)
		if response.StatusCode != want.status || !strings.Contains(body, `"code":"`+string(want.code)+`"`) ||
			response.Header.Get("Retry-After") != want.retryAfter {
			t.Errorf("%s: %d, Retry-After %q, %s", what, response.StatusCode, response.Header.Get("Retry-After"), body)
		}
		for _, secret := range []string{"/srv", "10.0.0.7", "driver"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s: the response contains %q: %s", what, secret, body)
			}
		}
	}
}
