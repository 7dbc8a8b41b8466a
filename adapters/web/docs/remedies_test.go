package docs

import (
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout/layouttest"
	"sundry/core/locale"
)

func TestEveryErrorCodeHasARemedy(t *testing.T) {
	t.Parallel()
	for _, one := range newTestRoutes(t, true).remedies(locale.Default) {
		if one.Remedy == "" || strings.HasPrefix(one.Remedy, "remedy.") {
			t.Errorf("%s has no remedy", one.Code)
		}
	}
}

func TestProgramsFindTheDocumentation(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	newTestRoutes(t, true).Mount(app)
	response, body := layouttest.Get(t, app, "/llms.txt", nil)
	if response.StatusCode != 200 || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") {
		t.Fatalf("%d %v", response.StatusCode, response.Header)
	}
	for _, part := range []string{"# Sundry", "/openapi.yaml)", "/docs#level-1)", "[Checkout](https://pay.example/docs/checkout)", "`CARD_DECLINED` (418): "} {
		if !strings.Contains(body, part) {
			t.Errorf("llms.txt lacks %s", part)
		}
	}
}
