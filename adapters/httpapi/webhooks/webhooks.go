package webhooks

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/adapters/httpapi/strictjson"
	"sundry/core/apiformat"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/webhook"
	"sundry/modules/webhooks"
	"sundry/ports"
)

func (h handlers) webhookRoutes() []httpapi.Route {
	const endpoints, one = "/v1/webhook-endpoints", "/v1/webhook-endpoints/:id"
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: "/v1/events", Auth: httpapi.SecretKey, Handle: h.listEvents, MayBeStale: true},
		{Method: fiber.MethodGet, Path: "/v1/events/:id", Auth: httpapi.SecretKey, Handle: h.getEvent},
		{Method: fiber.MethodGet, Path: "/v1/event-types", Auth: httpapi.SecretKey, Handle: h.listEventTypes},
		{
			Method: fiber.MethodPost, Path: endpoints, Auth: httpapi.SecretKey, Idempotency: httpapi.Transactional,
			Handle: h.createEndpoint,
		},
		{Method: fiber.MethodGet, Path: endpoints, Auth: httpapi.SecretKey, Handle: h.listEndpoints},
		{Method: fiber.MethodGet, Path: one, Auth: httpapi.SecretKey, Handle: h.getEndpoint},
		{Method: fiber.MethodPatch, Path: one, Auth: httpapi.SecretKey, Handle: h.updateEndpoint},
		{Method: fiber.MethodDelete, Path: one, Auth: httpapi.SecretKey, Handle: h.deleteEndpoint},
		{Method: fiber.MethodGet, Path: one + "/secret", Auth: httpapi.SecretKey, Handle: h.getEndpointSecret},
		{
			Method: fiber.MethodPost, Path: one + "/rotate-secret", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, Handle: httpapi.WithoutBody(h.rotateEndpointSecret),
		},
		{
			Method: fiber.MethodPost, Path: one + "/test", Auth: httpapi.SecretKey, Idempotency: httpapi.Transactional,
			Handle: httpapi.WithoutBody(h.testEndpoint),
		},
		{
			Method: fiber.MethodGet, Path: one + "/deliveries", Auth: httpapi.SecretKey, Handle: h.listDeliveries, MayBeStale: true,
		},
		{
			Method: fiber.MethodPost, Path: one + "/deliveries/:deliveryId/redeliver", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Leased, Handle: httpapi.WithoutBody(h.redeliver),
		},
		{
			Method: fiber.MethodPost, Path: one + "/replay", Auth: httpapi.SecretKey, Idempotency: httpapi.Leased,
			Handle: h.replayEvents,
		},
	}
}

// endpointView is a webhook endpoint. Secret is shown when it is made and by its own route.
type endpointView struct {
	ID             string   `json:"id"`
	URL            string   `json:"url"`
	Events         []string `json:"events"`
	Enabled        bool     `json:"enabled"`
	DisabledReason *string  `json:"disabledReason"`
	MaxInFlight    int      `json:"maxInFlight"`
	// MaxPerSecond is null without a limit.
	MaxPerSecond *int    `json:"maxPerSecond"`
	Livemode     bool    `json:"livemode"`
	CreatedAt    *string `json:"createdAt"`
	Secret       string  `json:"secret,omitempty"`
}

func (h handlers) newEndpointView(e webhook.EndpointState) endpointView {
	return endpointView{
		ID: e.ID, URL: e.URL, Events: e.Events, Enabled: e.Enabled, DisabledReason: apiformat.Text(e.DisabledReason),
		Livemode:    h.Live,
		MaxInFlight: e.MaxInFlight, MaxPerSecond: apiformat.Count(e.MaxPerSecond), CreatedAt: apiformat.Time(e.CreatedAt),
	}
}

type endpointRequest struct {
	URL     strictjson.Optional[string]   `json:"url"`
	Events  strictjson.Optional[[]string] `json:"events"`
	Enabled strictjson.Optional[bool]     `json:"enabled"`

	MaxInFlight  strictjson.Optional[int] `json:"maxInFlight"`
	MaxPerSecond strictjson.Optional[int] `json:"maxPerSecond"`
}

func (in endpointRequest) edit(f *fault.Violations) webhook.EndpointEdit {
	edit := webhook.EndpointEdit{
		URL: httpapi.PatchValue(f, "url", in.URL), Events: httpapi.PatchValue(f, "events", in.Events),
		Enabled:     httpapi.PatchValue(f, "enabled", in.Enabled),
		MaxInFlight: httpapi.PatchValue(f, "maxInFlight", in.MaxInFlight),
	}
	if in.MaxPerSecond.Set { // null is no limit, which no number expresses
		edit.MaxPerSecond = &in.MaxPerSecond.Value
		if !in.MaxPerSecond.Null && in.MaxPerSecond.Value == 0 {
			in.MaxPerSecond.Value = -1
		}
	}
	return edit
}

func (h handlers) createEndpoint(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[endpointRequest](c)
	var f fault.Violations
	edit := in.edit(&f)
	f.Check(!in.Enabled.Set, "enabled", fault.DetailNotAllowed, "A new endpoint is enabled. Change that with PATCH.")
	if err := httpapi.MergeFieldErrors(reading, f.Err(), h.Webhooks.CheckEndpoint(edit, true)); err != nil {
		return err
	}
	endpoint, secret, err := h.Webhooks.CreateEndpoint(c.UserContext(), httpapi.Account(c), edit)
	if err != nil {
		return err
	}
	view := h.newEndpointView(endpoint)
	view.Secret = secret
	return c.Status(fiber.StatusCreated).JSON(view)
}

func (h handlers) listEndpoints(c *fiber.Ctx) error {
	p, err := httpapi.QueryPage(c, id.WebhookEndpoint)
	if err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newEndpointView)(h.Webhooks.Endpoints(c.UserContext(), httpapi.Account(c), p))
}

func (h handlers) getEndpoint(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newEndpointView)(h.Webhooks.Endpoint(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) updateEndpoint(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[endpointRequest](c)
	var f fault.Violations
	edit := in.edit(&f)
	if err := httpapi.MergeFieldErrors(reading, f.Err(), h.Webhooks.CheckEndpoint(edit, false)); err != nil {
		return err
	}
	return httpapi.Respond(c, h.newEndpointView)(
		h.Webhooks.EditEndpoint(c.UserContext(), httpapi.Account(c), c.Params("id"), edit),
	)
}

func (h handlers) deleteEndpoint(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newEndpointView)(
		h.Webhooks.DeleteEndpoint(c.UserContext(), httpapi.Account(c), c.Params("id")),
	)
}

type secretView struct {
	Secret string `json:"secret"`
}

func (h handlers) getEndpointSecret(c *fiber.Ctx) error {
	secret, err := h.Webhooks.Secret(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.JSON(secretView{secret})
}

func (h handlers) rotateEndpointSecret(c *fiber.Ctx) error {
	endpoint, secret, err := h.Webhooks.RotateSecret(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return err
	}
	view := h.newEndpointView(endpoint)
	view.Secret = secret
	return c.JSON(view)
}

// deliveryView is the delivery of one event to one endpoint.
type deliveryView struct {
	ID            string                 `json:"id"`
	EventID       string                 `json:"eventId"`
	EventType     string                 `json:"eventType"`
	Status        webhook.DeliveryStatus `json:"status"`
	AttemptCount  int                    `json:"attemptCount"`
	NextAttemptAt *string                `json:"nextAttemptAt"`
	CreatedAt     *string                `json:"createdAt"`
	Attempts      []attemptView          `json:"attempts"`
}

type attemptView struct {
	Number       int     `json:"number"`
	At           *string `json:"at"`
	StatusCode   *int    `json:"statusCode"`
	DurationMs   int64   `json:"durationMs"`
	Error        *string `json:"error"`
	ResponseBody *string `json:"responseBody"`
}

func newDeliveryView(d webhooks.Delivered) deliveryView {
	view := deliveryView{
		ID: d.ID, EventID: d.EventID, EventType: d.EventType, Status: d.Status, AttemptCount: d.AttemptCount,
		NextAttemptAt: apiformat.Time(d.NextAttemptAt), CreatedAt: apiformat.Time(d.CreatedAt),
		Attempts: make([]attemptView, len(d.Attempts)),
	}
	for i, a := range d.Attempts {
		view.Attempts[i] = attemptView{
			Number: a.Number, At: apiformat.Time(a.At), StatusCode: apiformat.Count(a.StatusCode),
			DurationMs: a.Duration.Milliseconds(), Error: apiformat.Text(a.Error),
			ResponseBody: apiformat.Text(a.ResponseBody),
		}
	}
	return view
}

func (h handlers) testEndpoint(c *fiber.Ctx) error {
	delivery, err := h.Webhooks.Test(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(newDeliveryView(webhooks.Delivered{DeliveryState: delivery}))
}

func (h handlers) listDeliveries(c *fiber.Ctx) error {
	var f fault.Violations
	p := httpapi.ReadPage(c, &f, id.Delivery)
	status := httpapi.QueryOneOf(c, &f, "status", webhook.Pending, webhook.Delivered, webhook.Failed)
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, newDeliveryView)(
		h.Webhooks.Deliveries(c.UserContext(), httpapi.Account(c), c.Params("id"), status, p),
	)
}

func (h handlers) redeliver(c *fiber.Ctx) error {
	return httpapi.RespondStatus(c, fiber.StatusAccepted, newDeliveryView)(
		h.Webhooks.Redeliver(c.UserContext(), httpapi.Account(c), c.Params("id"), c.Params("deliveryId")),
	)
}

type replayRequest struct {
	From   *string `json:"from"`
	To     *string `json:"to"`
	Cursor *string `json:"cursor"`
}

type replayView struct {
	Replayed   int     `json:"replayed"`
	HasMore    bool    `json:"hasMore"`
	NextCursor *string `json:"nextCursor"`
}

func (h handlers) replayEvents(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[replayRequest](c)
	var f fault.Violations
	events := webhooks.ReplayRange{
		From: httpapi.ReadTime(&f, "from", in.From), To: httpapi.ReadTime(&f, "to", in.To),
		After: httpapi.ReadCursor(&f, httpapi.ValueOf(in.Cursor), id.Event),
	}
	if err := httpapi.MergeFieldErrors(reading, f.Err()); err != nil {
		return err
	}
	replayed, next, err := h.Webhooks.Replay(c.UserContext(), httpapi.Account(c), c.Params("id"), events)
	if err != nil {
		return err
	}
	view := replayView{Replayed: replayed}
	if next.ID != "" {
		view.HasMore, view.NextCursor = true, httpapi.FormatCursor(next)
	}
	return c.Status(fiber.StatusAccepted).JSON(view)
}

// typesOf lists the types that a query asks for; nil for all.
func typesOf(filter string) []event.Type {
	if filter == "" {
		return nil
	}
	return webhook.Matching(filter)
}

func (h handlers) listEvents(c *fiber.Ctx) error {
	var f fault.Violations
	p := httpapi.ReadPage(c, &f, id.Event)
	search := ports.EventSearch{
		Types:              typesOf(httpapi.QueryOneOf(c, &f, "type", webhook.Filters()...)),
		CustomerID:         httpapi.QueryID(c, &f, "customerId", id.Customer),
		ExternalCustomerID: httpapi.QueryText(c, &f, "externalCustomerId"),
		Created:            httpapi.QueryCreated(c, &f),
		OldestFirst:        httpapi.QueryOneOf(c, &f, "order", "asc", "desc") == "asc",
	}
	if err := f.Err(); err != nil {
		return err
	}
	found, err := h.Webhooks.Events(c.UserContext(), httpapi.Account(c), search, p)
	if err != nil {
		return err
	}
	if search.OldestFirst {
		return c.JSON(httpapi.NewTailView(found, event.Record.Envelope))
	}
	return c.JSON(httpapi.NewListView(found, event.Record.Envelope))
}

func (h handlers) getEvent(c *fiber.Ctx) error {
	return httpapi.Respond(c, event.Record.Envelope)(h.Webhooks.Event(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

// eventTypeView is one line of the catalogue.
type eventTypeView struct {
	Type        event.Type      `json:"type"`
	Description string          `json:"description"`
	Advanced    bool            `json:"advanced"`
	Schema      json.RawMessage `json:"schema"`
}

func (h handlers) listEventTypes(c *fiber.Ctx) error {
	types := webhook.Catalogue()
	views := make([]eventTypeView, len(types))
	for i, t := range types {
		views[i] = eventTypeView{t.Type, t.Description, t.Advanced, t.Schema}
	}
	return c.JSON(httpapi.ListView[eventTypeView]{Data: views})
}
