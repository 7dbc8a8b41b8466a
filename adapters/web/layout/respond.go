package layout

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/compress"

	"sundry/core/fault"
	"sundry/core/locale"
)

// Compress compresses the routes of pages; the JSON API beside them stays uncompressed.
func Compress() fiber.Handler { return compress.New() }

// Mount serves the assets of all sites.
func (l *Layout) Mount(app fiber.Router) {
	app.Get("/assets/:file", l.asset)
	app.Get("/accent/:file", l.accent)
	app.Get("/images/:signature/:address", l.images.serve)
	app.Get("/media/:id", l.upload)
}

// NotFound shows a page to browsers that request an unknown address. Everything else, and the API, goes to the next
// handler. It comes after every other page.
func (l *Layout) NotFound(c *fiber.Ctx) error {
	if c.Method() != fiber.MethodGet || !readsPages(c) {
		return c.Next()
	}
	html, err := l.ErrorHTML(Reader(c), http.StatusNotFound, c.GetRespHeader(fiber.HeaderXRequestID))
	if err != nil {
		return err
	}
	c.Status(http.StatusNotFound)
	return SendPrivate(c, html, Policy{})
}

// readsPages reports whether a person's browser asks, and not for the API.
func readsPages(c *fiber.Ctx) bool {
	return !strings.HasPrefix(c.Path(), "/v1/") && strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
}

// Refused shows a page with the reason to a browser whose request was refused before any page saw it, such as a form
// with a file that is too large. done is false for all other clients.
func (l *Layout) Refused(c *fiber.Ctx, status int) (done bool) {
	if !readsPages(c) {
		return false
	}
	html, err := l.ErrorHTML(Reader(c), status, c.GetRespHeader(fiber.HeaderXRequestID))
	if err != nil {
		return false
	}
	c.Status(status)
	return SendPrivate(c, html, Policy{}) == nil
}

// asset serves a file by the hash in its name, for ever.
func (l *Layout) asset(c *fiber.Ctx) error {
	asset := l.assets.Lookup(c.Path())
	if asset == nil {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderContentType, asset.ContentType)
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	return asset.encoded.Send(c)
}

// Reader returns the language and formats that a request prefers.
func Reader(c *fiber.Ctx) locale.Locale { return locale.Parse(c.Get(fiber.HeaderAcceptLanguage)) }

// ReaderOf is Reader with the clock of a stored locale ("" for none), or with the one that the address names: a buyer
// sees the same hours on every page.
func ReaderOf(c *fiber.Ctx, stored string) locale.Locale {
	reader := Reader(c)
	if hour12, ok := locale.ClockOf(stored); ok {
		reader.Hour12 = hour12
	}
	return reader.WithClock(c.Query("hours"))
}

// WithHours returns the address of another page with the reader's clock, where that is not what their language
// suggests.
func WithHours(address string, reader locale.Locale) string {
	switch suggested := locale.ParseTag(reader.Tag()); {
	case reader.Hour12 == suggested.Hour12:
		return address
	case reader.Hour12:
		return address + "?hours=12"
	}
	return address + "?hours=24"
}

// Send responds with a page and the headers every page has: no referrer that could reveal a secret, no sniffing, and a
// policy that restricts what may run, who may frame it and where its forms go.
func Send(c *fiber.Ctx, html []byte, policy Policy) error {
	setPageHeaders(c, policy)
	return c.Send(html)
}

// SendEncoded is Send for a page that is the same for many readers.
func SendEncoded(c *fiber.Ctx, page *Encoded, policy Policy) error {
	setPageHeaders(c, policy)
	return page.Send(c)
}

func setPageHeaders(c *fiber.Ctx, policy Policy) {
	c.Set(fiber.HeaderContentType, "text/html; charset=utf-8")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderContentSecurityPolicy, policy.header())
	if len(policy.Parents) == 0 {
		c.Set(fiber.HeaderXFrameOptions, "DENY")
	}
}

// SendPrivate is Send for a page that no cache may keep.
func SendPrivate(c *fiber.Ctx, html []byte, policy Policy) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return Send(c, html, policy)
}

// SeeOther sends the reader on, from a form so that a reload does not send it again.
func SeeOther(c *fiber.Ctx, address string) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	return c.Redirect(address, fiber.StatusSeeOther)
}

// ClientAddress returns the network that a reader comes from.
func (l *Layout) ClientAddress(c *fiber.Ctx) string { return l.config.ClientAddress(c) }

// ClientCountry returns the country that a reader's network is in, as far as a trusted proxy reports it.
func (l *Layout) ClientCountry(c *fiber.Ctx) string { return l.config.ClientCountry(c) }

// Handle lets the handler of a page return its errors, which Fail shows.
func (l *Layout) Handle(handle fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := handle(c); err != nil {
			return l.Fail(c, err)
		}
		return nil
	}
}

// Fail responds with an error page in plain words: these addresses are opened by people.
func (l *Layout) Fail(c *fiber.Ctx, err error) error {
	id := c.GetRespHeader(fiber.HeaderXRequestID)
	status := l.config.StatusOf(err)
	if status >= fiber.StatusInternalServerError {
		l.config.Log.ErrorContext(c.UserContext(), "page failed", slog.String("requestId", id),
			slog.String("route", c.Route().Path), slog.Any("error", err))
	}
	if fault.Is(err, fault.NotBookable) {
		status = fiber.StatusConflict // the address is right: what it leads to cannot be bought now
	}
	key := errorKey(status)
	if fault.Is(err, fault.LimitReached) {
		key = "error.limit" // the one limit of buyers without a page of its own: that of a file's downloads
	}
	html, renderErr := l.errorPage(Reader(c), key, status, id)
	if renderErr != nil {
		return err
	}
	setRetryAfter(c, status, err)
	c.Status(status)
	return SendPrivate(c, html, Policy{})
}

// setRetryAfter tells when a refused request may be sent again, where that is known.
func setRetryAfter(c *fiber.Ctx, status int, err error) {
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok && status == fiber.StatusServiceUnavailable {
		refusal, ok = fault.Wrap(fault.DatabaseBusy, "The database is busy.", err), true
	}
	if ok && refusal.RetrySeconds() > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(refusal.RetrySeconds()))
	}
}

// errorView is a page for people where the API would respond with an error body.
type errorView struct {
	Status                   int
	Heading, Lead, RequestID string
}

// ErrorHTML renders a friendly page for an HTTP status. It shows the request id, by which support finds the log line,
// and nothing else of the fault.
func (l *Layout) ErrorHTML(reader locale.Locale, status int, requestID string) ([]byte, error) {
	return l.errorPage(reader, errorKey(status), status, requestID)
}

// errorKey returns the key of the texts for an HTTP status.
func errorKey(status int) string {
	switch {
	case status == http.StatusBadRequest:
		return "error.400"
	case status == http.StatusForbidden:
		return "error.403"
	case status >= http.StatusInternalServerError:
		return "error.500"
	case status == http.StatusRequestEntityTooLarge:
		return "error.413"
	case status == http.StatusTooManyRequests:
		return "error.429"
	case status == http.StatusGone, status == http.StatusConflict:
		return "error.410"
	default:
		return "error.404"
	}
}

func (l *Layout) errorPage(reader locale.Locale, key string, status int, requestID string) ([]byte, error) {
	title := reader.Text(key + ".title")
	return l.errors.Render(reader, "error.html", View{
		Title: title,
		Page:  errorView{Status: status, Heading: title, Lead: reader.Text(key + ".lead"), RequestID: requestID},
	})
}

// plainHost are the hosts that may be written into a header as they are.
var plainHost = regexp.MustCompile(`^(\[[0-9a-fA-F:.]+\]|[0-9A-Za-z._-]+)(:\d+)?$`)

// OriginOf is scheme://host of an absolute http(s) address, "" for anything else.
func OriginOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || !plainHost.MatchString(u.Host) || (u.Scheme != "https" && u.Scheme != "http") {
		return ""
	}
	return fmt.Sprintf("%s://%s", u.Scheme, u.Host)
}

// SendPDF responds with a document that its reader may keep, and nobody between them and us. name is that of the file,
// without its ending.
func SendPDF(c *fiber.Ctx, name string, content []byte) error {
	c.Set(fiber.HeaderContentType, "application/pdf")
	c.Set(fiber.HeaderContentDisposition, `inline; filename="`+name+`.pdf"`)
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	return c.Send(content)
}
