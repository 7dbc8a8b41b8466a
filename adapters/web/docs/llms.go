package docs

import (
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/locale"
)

// plain is the way into the documentation for programs that read text (llmstxt.org).
func (r *Routes) plain(c *fiber.Ctx) error {
	all, err := r.contents()
	if err != nil {
		return err
	}
	base, reader := r.layout.Config().BaseURL, locale.Default
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n> %s\n\n", reader.Text("brand"), reader.Text("llms.summary"))
	fmt.Fprintf(
		&out,
		"## API\n\n- [OpenAPI document](%[1]s/openapi.yaml): %[2]s\n"+
			"- [OpenAPI document for generators](%[1]s/openapi-client.json): %[3]s\n"+
			"- [Reference and guide](%[1]s/docs): %[4]s\n- [All of it as one text](%[1]s/llms-full.txt): %[5]s\n\n## Guide\n\n",
		base, reader.Text("llms.openapi"), reader.Text("llms.client"), reader.Text("llms.docs"), reader.Text("llms.full"),
	)
	for _, section := range r.guideSections(reader) {
		fmt.Fprintf(&out, "- [%s](%s/docs#%s)\n", section.Title, base, section.ID)
	}
	fmt.Fprintf(&out, "\n## Reference\n\n")
	for _, group := range all.Groups {
		fmt.Fprintf(&out, "- [%s](%s/docs/%s)\n", group.Name, base, group.Slug)
	}
	fmt.Fprintf(&out, "- [%s](%s/docs/%s)\n", reader.Text("docs.events"), base, eventsPage)
	fmt.Fprintf(&out, "\n## Errors\n\n")
	for _, one := range r.remedies(reader) {
		fmt.Fprintf(&out, "- `%s` (%d): %s\n", one.Code, one.Status, one.Remedy)
	}
	c.Set(fiber.HeaderContentType, "text/plain; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "public, max-age=300")
	return c.SendString(out.String())
}
