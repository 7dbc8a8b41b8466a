package checkout

import (
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout/layouttest"
)

func TestTheOverlayScriptIsForOtherOrigins(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	newTestRoutes(t, true).Mount(app)
	response, body := layouttest.Get(t, app, "/sundry.js", nil)
	if response.StatusCode != 200 || response.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" ||
		!strings.Contains(body, "window.Sundry") {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
	again, body := layouttest.Get(t, app, "/sundry.js", map[string]string{"If-None-Match": response.Header.Get("ETag")})
	if again.StatusCode != 304 || body != "" {
		t.Errorf("unchanged script responds %d with %d bytes", again.StatusCode, len(body))
	}
}
