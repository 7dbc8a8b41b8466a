package httpapi

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/ports"
)

// mediaLines is the media type of JSON Lines.
const mediaLines = "application/x-ndjson"

// exportWrite is the time that a reader may take for one page of an export.
const exportWrite = time.Minute

func (s *Server) exportRoutes() []Route {
	return []Route{
		{Method: fiber.MethodGet, Path: "/v1/export", Auth: SecretKeyOrAccessToken, Handle: s.getExport},
		{Method: fiber.MethodGet, Path: "/v1/customers/:id/export", Auth: SecretKey, Handle: s.getCustomerExport},
	}
}

// ExportRecorder records that the caller takes what an account has about an object, or, with objectID "", everything.
type ExportRecorder interface {
	RecordExport(ctx context.Context, creatorID, objectID, note string) error
}

// ExportLister lists objects of an account, as their own routes respond with them.
type ExportLister func(ctx context.Context, creatorID string, page ports.Page) (ports.List[any], error)

// exportLine is one object of an export: Data is what the object's own route responds with.
type exportLine struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// exportPart is a route whose objects are part of an export: a list, page by page, or one object.
type exportPart struct {
	kind, path string
	query      url.Values
	// list takes the place of path for objects that no route lists; nil elsewhere.
	list ExportLister
	// own is the route of one object, with %s for its id, where that responds with more than the list; "" elsewhere.
	own string
	// only selects objects of a list that has no filter of its own; nil for all.
	only func(o exportedObject) bool
	// visit is called with each object that was written; nil for nobody.
	visit func(o exportedObject)
	// below are the parts of each object, whose path has %s for its id.
	below []exportPart
}

// exportedObject holds the members by which objects belong together.
type exportedObject struct {
	ID                 string `json:"id"`
	CustomerID         string `json:"customerId"`
	CheckoutID         string `json:"checkoutId"`
	ExternalCustomerID string `json:"externalCustomerId"`
}

// accountParts are an account's data, each object once.
func (s *Server) accountParts() []exportPart {
	return []exportPart{
		{kind: "creator", path: "/v1/creator"},
		{kind: "catalog", path: "/v1/catalog"},
		{kind: "listing", path: "/v1/listings/mine", below: []exportPart{
			{kind: "plan", path: "/v1/listings/%s/plans"}, {kind: "file", path: "/v1/listings/%s/files"},
		}},
		{kind: "payment_link", path: "/v1/payment-links"},
		{kind: "discount", path: "/v1/discounts"},
		{kind: "availability", path: "/v1/scheduling/availability"},
		{kind: "meeting_settings", path: "/v1/scheduling/meeting-settings"},
		{kind: "api_key", path: "/v1/api-keys"},
		{kind: "webhook_endpoint", path: "/v1/webhook-endpoints"},
		{kind: "meter", path: "/v1/usage/meters"},
		{kind: "product", path: "/v1/usage/products"},
		{kind: "usage_price", path: "/v1/usage/prices"},
		{kind: "usage_alert", path: "/v1/usage/alerts"},
		{
			kind: "customer", path: "/v1/customers",
			below: []exportPart{{kind: "payment_method", path: "/v1/customers/%s/payment-methods"}},
		},
		{kind: "grant", list: s.Grants}, // some are for an external id that is no customer's
		{kind: "checkout_session", path: "/v1/checkout-sessions"},
		{kind: "payment", path: "/v1/payments"},
		{kind: "refund", path: "/v1/refunds"},
		{kind: "dispute", path: "/v1/disputes"},
		{kind: "subscription", path: "/v1/subscriptions"},
		{kind: "billing_plan", path: "/v1/usage/billing-plans"},
		{kind: "usage_credit", path: "/v1/usage/credits", own: "/v1/usage/credits/%s"},
		{kind: "usage_report", path: "/v1/usage/events"},
		{kind: "invoice", path: "/v1/invoices"},
		{kind: "appointment", path: "/v1/appointments"},
		{kind: "balance", path: "/v1/balance"},
		{kind: "ledger_entry", path: "/v1/ledger/entries"},
		{kind: "payout", path: "/v1/payouts"},
		{kind: "event", path: "/v1/events"},
		{kind: "audit_log", path: "/v1/audit-log"},
	}
}

// customerParts lists the parts of a customer's export: the routes that have what an account keeps about them.
func customerParts(customerID, externalID string) []exportPart {
	of := url.Values{"customerId": {customerID}}
	theirs := func(o exportedObject) bool { return o.CustomerID == customerID }
	sessions := map[string]bool{}
	parts := []exportPart{
		{kind: "payment_method", path: "/v1/customers/" + customerID + "/payment-methods"},
		{
			kind: "checkout_session", path: "/v1/checkout-sessions", query: of,
			visit: func(o exportedObject) { sessions[o.ID] = true },
		},
		{kind: "payment", path: "/v1/payments", query: of},
		{kind: "refund", path: "/v1/refunds", only: theirs},
		{kind: "dispute", path: "/v1/disputes", only: theirs},
		{
			kind: "subscription", path: "/v1/subscriptions", query: of,
			below: []exportPart{
				{kind: "billing_plan", path: "/v1/usage/billing-plans?subscriptionId=%s"},
				{kind: "usage", path: "/v1/usage/summary?subscriptionId=%s"},
			},
		},
		{kind: "usage_credit", path: "/v1/usage/credits", query: of, own: "/v1/usage/credits/%s"},
		{kind: "usage_report", path: "/v1/usage/events", query: of},
		{kind: "invoice", path: "/v1/invoices", query: of},
		{kind: "appointment", path: "/v1/appointments", only: func(o exportedObject) bool { return sessions[o.CheckoutID] }},
		{kind: "event", path: "/v1/events", query: of},
	}
	access := "/v1/customer-access/" + url.PathEscape(cmp.Or(externalID, customerID))
	return append(parts,
		exportPart{kind: "access", path: access}, exportPart{kind: "access_history", path: access + "/explain"},
	)
}

// getExport streams everything of the account as JSON Lines.
func (s *Server) getExport(c *fiber.Ctx) error {
	if err := s.recordExport(c, "", "everything of the account"); err != nil {
		return err
	}
	return s.stream(c, Account(c), nil, s.accountParts())
}

// getCustomerExport streams what the account has about a customer.
func (s *Server) getCustomerExport(c *fiber.Ctx) error {
	customerID, account := c.Params("id"), Account(c)
	first, err := s.readAs(account, "/v1/customers/"+url.PathEscape(customerID))
	if err != nil {
		return err
	}
	var about exportedObject
	if err := json.Unmarshal(first, &about); err != nil {
		return err
	}
	if err := s.recordExport(c, about.ID, "everything about a customer"); err != nil {
		return err
	}
	line := exportLine{Type: "customer", Data: first}
	return s.stream(c, account, []exportLine{line}, customerParts(about.ID, about.ExternalCustomerID))
}

// recordExport records an export. A request for its header alone is none.
func (s *Server) recordExport(c *fiber.Ctx, objectID, note string) error {
	if s.Exports == nil || c.Method() == fiber.MethodHead {
		return nil
	}
	return s.Exports.RecordExport(c.UserContext(), Account(c), objectID, note)
}

// stream writes lines and parts while they are read, and at the end how many lines there were: without that line an
// export is not complete. An export of any size costs the memory of a page.
func (s *Server) stream(c *fiber.Ctx, account string, lines []exportLine, parts []exportPart) error {
	c.Set(fiber.HeaderContentType, mediaLines)
	c.Set(fiber.HeaderCacheControl, "no-store")
	if c.Method() == fiber.MethodHead {
		return nil
	}
	conn, ctx, name := c.Context().Conn(), context.WithoutCancel(c.UserContext()), requestID(c)
	c.Context().SetBodyStreamWriter(func(out *bufio.Writer) {
		e := &export{server: s, account: account, out: out, extend: func() {
			_ = conn.SetWriteDeadline(time.Now().Add(exportWrite)) // a connection that is gone shows at the next write
		}}
		err := e.run(ctx, lines, parts)
		if err != nil && !errors.Is(err, errReaderGone) {
			s.Log.ErrorContext(ctx, "export failed", slog.String("requestId", name), slog.Any("error", err))
		}
	})
	return nil
}

var errReaderGone = errors.New("the reader of the export is gone")

// export is one export under way.
type export struct {
	server  *Server
	account string
	out     *bufio.Writer
	extend  func()
	count   int
}

func (e *export) run(ctx context.Context, lines []exportLine, parts []exportPart) error {
	for _, line := range lines {
		if err := e.write(line); err != nil {
			return err
		}
	}
	for _, part := range parts {
		if err := e.part(ctx, part); err != nil {
			return err
		}
	}
	end, err := apiformat.JSON(map[string]int{"lines": e.count})
	if err != nil {
		return err
	}
	return e.write(exportLine{Type: "end", Data: end})
}

func (e *export) write(line exportLine) error {
	text, err := apiformat.JSON(line)
	if err != nil {
		return err
	}
	e.count++
	if _, err := e.out.Write(append(text, '\n')); err != nil {
		return errReaderGone
	}
	return nil
}

// part writes all objects of a part, and after each what is below it.
func (e *export) part(ctx context.Context, p exportPart) error {
	if p.list != nil {
		return e.listed(ctx, p)
	}
	address, err := url.Parse(p.path)
	if err != nil {
		return err
	}
	query := address.Query()
	maps.Copy(query, p.query)
	paged, err := e.server.document.pages(p.path)
	if err != nil {
		return err
	}
	if paged {
		query.Set("limit", "100")
	}
	for {
		address.RawQuery = query.Encode()
		text, err := e.server.readAs(e.account, address.String())
		if err != nil {
			return fmt.Errorf("export %s: %w", p.path, err)
		}
		page, err := readObjects(text)
		if err != nil {
			return err
		}
		if err := e.objects(ctx, p, page.Data); err != nil || !page.HasMore {
			return err
		}
		query.Set("cursor", *page.NextCursor)
	}
}

// listed is part for objects that no route lists.
func (e *export) listed(ctx context.Context, p exportPart) error {
	page := ports.Page{Limit: maxLimit}
	for {
		// Each page is a request of its own to the database, as one of a route is.
		found, err := p.list(ports.AllowStale(ports.WithBegin(ctx, time.Now())), e.account, page)
		if err != nil {
			return fmt.Errorf("export %ss: %w", p.kind, err)
		}
		all := make([]json.RawMessage, len(found.Items))
		for i, object := range found.Items {
			if all[i], err = apiformat.JSON(object); err != nil {
				return err
			}
		}
		if err := e.objects(ctx, p, all); err != nil || found.Next.ID == "" {
			return err
		}
		page.After = found.Next
	}
}

// readObjects reads a page of a list, or one object as a list of one.
func readObjects(text []byte) (page ListView[json.RawMessage], err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return page, err
	}
	if _, isList := members["hasMore"]; !isList {
		return ListView[json.RawMessage]{Data: []json.RawMessage{text}}, nil
	}
	err = json.Unmarshal(text, &page)
	return page, err
}

func (e *export) objects(ctx context.Context, p exportPart, all []json.RawMessage) error {
	for _, text := range all {
		var o exportedObject
		if err := json.Unmarshal(text, &o); err != nil {
			return err
		}
		if p.only != nil && !p.only(o) {
			continue
		}
		if err := e.object(p, o, text); err != nil {
			return err
		}
		if p.visit != nil {
			p.visit(o)
		}
		for _, below := range p.below {
			below.path = fmt.Sprintf(below.path, o.ID)
			if err := e.part(ctx, below); err != nil {
				return err
			}
		}
	}
	e.extend()
	if e.out.Flush() != nil {
		return errReaderGone
	}
	return nil
}

// object writes an object of a part, of which text is what the part's route has.
func (e *export) object(p exportPart, o exportedObject, text json.RawMessage) error {
	if p.own != "" {
		var err error
		if text, err = e.server.readAs(e.account, fmt.Sprintf(p.own, o.ID)); err != nil {
			return fmt.Errorf("export %s: %w", p.own, err)
		}
	}
	return e.write(exportLine{Type: p.kind, Data: text})
}

// insider is the key under which a request of the server's own carries its account.
type insider struct{}

// readAs reads a route as the account does, within the server: with no credential, no rate limit and no line in the log
// of requests. Its error is the route's refusal.
func (s *Server) readAs(account, address string) ([]byte, error) {
	var request fasthttp.RequestCtx
	request.Init(&fasthttp.Request{}, nil, nil)
	request.Request.Header.SetProtocol("HTTP/1.0") // without Host
	request.Request.SetRequestURI(address)
	request.SetUserValue(insider{}, account)
	s.app.Handler()(&request)
	if status := request.Response.StatusCode(); status != fiber.StatusOK {
		var refusal errorView
		if err := json.Unmarshal(request.Response.Body(), &refusal); err != nil {
			return nil, fmt.Errorf("%s responded with %d", address, status)
		}
		return nil, fault.New(refusal.Code, refusal.Message)
	}
	return append([]byte(nil), request.Response.Body()...), nil
}
