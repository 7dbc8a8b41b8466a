package docs

import (
	"regexp"
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
	for _, part := range []string{"# Sundry", "/openapi.yaml)", "/openapi-client.json)", "/docs#level-1)", "[Checkout](https://pay.example/docs/checkout)", "`CARD_DECLINED` (418): "} {
		if !strings.Contains(body, part) {
			t.Errorf("llms.txt lacks %s", part)
		}
	}
}

func TestTheDocumentationIsOneText(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	newTestRoutes(t, true).Mount(app)
	_, whole := layouttest.Get(t, app, "/llms-full.txt", nil)
	response, body := layouttest.Get(t, app, "/docs.md", nil)
	if response.StatusCode != 200 || body != whole || response.Header.Get("Content-Type") != "text/markdown; charset=utf-8" {
		t.Fatalf("%d %v", response.StatusCode, response.Header)
	}
	for _, part := range []string{
		"## Level 1: a catalog checkout\n", "- one `code`\n- two\n", "### `payment.completed`\n",
		"### Create a checkout session\n\n`POST /v1/checkout-sessions` · Authentication: secretKey\n",
		"- `catalog` (object, required)\n  - `listing` (string, required)\n",
		"- `Idempotency-Key` (header · string, required) Makes retries safe. at most 255 characters.\n",
		"```sh\ncurl 'https://pay.example/v1/checkout-sessions/cs_1'\n```",
		"Opens a page <script>alert(1)</script> for the buyer.", // text
		"| Code and status | What to do |\n|---|---|\n| `VALIDATION_FAILED` 418 | ",
	} {
		if !strings.Contains(body, part) {
			t.Errorf("lacks %q", part)
		}
	}
	if left := regexp.MustCompile(`</?(?:p|ul|li|code|pre|strong|section|table|t[dhr])>`).FindString(body); left != "" {
		t.Errorf("markup is left: %s", left)
	}
	if strings.Count(body, "\n```")%2 != 0 {
		t.Error("a block of code does not end")
	}
}
