package layout_test

import (
	"context"
	"io"
	"mime"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/adapters/web/layout/layouttest"
	"sundry/core/file"
)

func TestSendFile_NameIsReadByEveryClient(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"logo@2x.png", "a=b & c+d.pdf", "it's (1) 100%!.txt", "Übung 1.zip", "資料;x.pdf"} {
		app := fiber.New()
		app.Get("/", func(c *fiber.Ctx) error {
			return layout.SendFile(c, file.State{Name: name, Size: 1}, func(context.Context, file.State, file.Range) io.Reader {
				return strings.NewReader("x")
			})
		})
		response, _ := layouttest.Get(t, app, "/", nil)
		disposition := response.Header.Get("Content-Disposition")
		kind, parameters, err := mime.ParseMediaType(disposition)
		if err != nil || kind != "attachment" || parameters["filename"] != name {
			t.Errorf("%s is read as %q, %v", disposition, parameters["filename"], err)
		}
	}
}
