package layout

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/file"
)

// stalled bounds the wait for a client to accept the next piece of a download.
const stalled = time.Minute

// SendFile responds with a file, or with the range of it that the request asks for. read returns the bytes of a range.
// A browser saves it and never shows it, because a creator may have uploaded anything.
func SendFile(c *fiber.Ctx, state file.State, read func(context.Context, file.State, file.Range) io.Reader) error {
	etag := strconv.Quote(state.ID)
	c.Set(fiber.HeaderContentType, state.ContentType)
	c.Set(fiber.HeaderContentDisposition, "attachment; filename*=UTF-8''"+encoded(state.Name))
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; sandbox")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderCacheControl, "private, no-store")
	c.Set(fiber.HeaderAcceptRanges, "bytes")
	c.Set(fiber.HeaderETag, etag)
	asked := c.Get(fiber.HeaderRange)
	if condition := c.Get(fiber.HeaderIfRange); condition != "" && condition != etag {
		asked = ""
	}
	wanted, partial, ok := file.ParseRange(asked, state.Size)
	if !ok {
		c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes */%d", state.Size))
		return c.SendStatus(fiber.StatusRequestedRangeNotSatisfiable)
	}
	if partial {
		c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes %d-%d/%d", wanted.First, wanted.Last, state.Size))
		c.Status(fiber.StatusPartialContent)
	}
	c.Context().SetBodyStream(&paced{read(c.UserContext(), state, wanted), c.Context().Conn()}, int(wanted.Len()))
	return nil
}

// encoded writes a name as the value of a header's parameter (RFC 8187), where @ and = are encoded, too.
func encoded(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "+", "%20") }

// paced gives a client time for each piece, as long as it accepts them: the server's own limit is for a whole response.
type paced struct {
	io.Reader
	conn net.Conn
}

// Read implements io.Reader.
func (p *paced) Read(into []byte) (int, error) {
	_ = p.conn.SetWriteDeadline(time.Now().Add(stalled)) // a connection without deadlines has none to move
	return p.Reader.Read(into)
}
