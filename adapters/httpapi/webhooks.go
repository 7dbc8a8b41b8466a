package httpapi

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi/strictjson"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/webhook"
	"sundry/core/wire"
	"sundry/modules/notify"
)

func (s *Server) webhookRoutes() []Route {
	const endpoints, one = "/v1/webhook-endpoints", "/v1/webhook-endpoints/:id"
	return []Route{
		{Method: fiber.MethodGet, Path: "/v1/events", Gate: SecretKey, Handle: s.listEvents},
		{Method: fiber.MethodGet, Path: "/v1/event-types", Gate: SecretKey, Handle: s.listEventTypes},
		{Method: fiber.MethodPost, Path: endpoints, Gate: SecretKey, Once: OnceInTransaction, Handle: s.createEndpoint},
		{Method: fiber.MethodGet, Path: endpoints, Gate: SecretKey, Handle: s.listEndpoints},
		{Method: fiber.MethodGet, Path: one, Gate: SecretKey, Handle: s.getEndpoint},
		{Method: fiber.MethodPatch, Path: one, Gate: SecretKey, Handle: s.updateEndpoint},
		{Method: fiber.MethodDelete, Path: one, Gate: SecretKey, Handle: s.deleteEndpoint},
		{Method: fiber.MethodGet, Path: one + "/secret", Gate: SecretKey, Handle: s.getEndpointSecret},
		{Method: fiber.MethodPost, Path: one + "/rotate-secret", Gate: SecretKey, Once: OnceInTransaction, Handle: bodiless(s.rotateEndpointSecret)},
		{Method: fiber.MethodPost, Path: one + "/test", Gate: SecretKey, Once: OnceInTransaction, Handle: bodiless(s.testEndpoint)},
		{Method: fiber.MethodGet, Path: one + "/deliveries", Gate: SecretKey, Handle: s.listDeliveries},
		{Method: fiber.MethodPost, Path: one + "/deliveries/:deliveryId/redeliver", Gate: SecretKey, Once: OnceLeased, Handle: bodiless(s.redeliver)},
		{Method: fiber.MethodPost, Path: one + "/replay", Gate: SecretKey, Once: OnceLeased, Handle: s.replayEvents},
	}
}

// endpointView is a webhook endpoint (contract §12). Secret is shown when it is made and by its own route.
type endpointView struct {
	ID             string   `json:"id"`
	URL            string   `json:"url"`
	Events         []string `json:"events"`
	Enabled        bool     `json:"enabled"`
	DisabledReason *string  `json:"disabledReason"`
	Livemode       bool     `json:"livemode"`
	CreatedAt      *string  `json:"createdAt"`
	Secret         string   `json:"secret,omitempty"`
}

func (s *Server) endpointView(e webhook.EndpointState) endpointView {
	return endpointView{
		ID: e.ID, URL: e.URL, Events: e.Events, Enabled: e.Enabled, DisabledReason: wire.Text(e.DisabledReason), Livemode: !s.cfg.Sandbox,
		CreatedAt: wire.Time(e.CreatedAt),
	}
}

type endpointRequest struct {
	URL     strictjson.Optional[string]   `json:"url"`
	Events  strictjson.Optional[[]string] `json:"events"`
	Enabled strictjson.Optional[bool]     `json:"enabled"`
}

func (in endpointRequest) edit(f *fault.Faults) webhook.EndpointEdit {
	return webhook.EndpointEdit{URL: given(f, "url", in.URL), Events: given(f, "events", in.Events), Enabled: given(f, "enabled", in.Enabled)}
}

func (s *Server) createEndpoint(c *fiber.Ctx) error {
	in, reading := decode[endpointRequest](c)
	var f fault.Faults
	edit := in.edit(&f)
	f.Check(!in.Enabled.Set, "enabled", fault.DetailNotAllowed, "A new endpoint is enabled. Change that with PATCH.")
	if err := together(reading, f.Err(), s.Notify.CheckEndpoint(edit, true)); err != nil {
		return err
	}
	endpoint, secret, err := s.Notify.CreateEndpoint(c.UserContext(), account(c), edit)
	if err != nil {
		return err
	}
	view := s.endpointView(endpoint)
	view.Secret = secret
	return c.Status(fiber.StatusCreated).JSON(view)
}

func (s *Server) listEndpoints(c *fiber.Ctx) error {
	var f fault.Faults
	p := page(c, &f)
	if err := f.Err(); err != nil {
		return err
	}
	found, err := s.Notify.Endpoints(c.UserContext(), account(c), p)
	if err != nil {
		return err
	}
	return c.JSON(list(found, s.endpointView))
}

func (s *Server) getEndpoint(c *fiber.Ctx) error {
	endpoint, err := s.Notify.Endpoint(c.UserContext(), account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.JSON(s.endpointView(endpoint))
}

func (s *Server) updateEndpoint(c *fiber.Ctx) error {
	in, reading := decode[endpointRequest](c)
	var f fault.Faults
	edit := in.edit(&f)
	if err := together(reading, f.Err(), s.Notify.CheckEndpoint(edit, false)); err != nil {
		return err
	}
	endpoint, err := s.Notify.EditEndpoint(c.UserContext(), account(c), c.Params("id"), edit)
	if err != nil {
		return err
	}
	return c.JSON(s.endpointView(endpoint))
}

func (s *Server) deleteEndpoint(c *fiber.Ctx) error {
	endpoint, err := s.Notify.DeleteEndpoint(c.UserContext(), account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.JSON(s.endpointView(endpoint))
}

type secretView struct {
	Secret string `json:"secret"`
}

func (s *Server) getEndpointSecret(c *fiber.Ctx) error {
	secret, err := s.Notify.Secret(c.UserContext(), account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.JSON(secretView{secret})
}

func (s *Server) rotateEndpointSecret(c *fiber.Ctx) error {
	endpoint, secret, err := s.Notify.RotateSecret(c.UserContext(), account(c), c.Params("id"))
	if err != nil {
		return err
	}
	view := s.endpointView(endpoint)
	view.Secret = secret
	return c.JSON(view)
}

// deliveryView is one event's way to one endpoint.
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

func viewOfDelivery(d notify.Delivered) deliveryView {
	view := deliveryView{
		ID: d.ID, EventID: d.EventID, EventType: d.EventType, Status: d.Status, AttemptCount: d.AttemptCount,
		NextAttemptAt: wire.Time(d.NextAttemptAt), CreatedAt: wire.Time(d.CreatedAt), Attempts: make([]attemptView, len(d.Attempts)),
	}
	for i, a := range d.Attempts {
		view.Attempts[i] = attemptView{
			Number: a.Number, At: wire.Time(a.At), DurationMs: a.Duration.Milliseconds(), Error: wire.Text(a.Error), ResponseBody: wire.Text(a.ResponseBody),
		}
		if a.StatusCode > 0 {
			view.Attempts[i].StatusCode = &a.StatusCode
		}
	}
	return view
}

func (s *Server) testEndpoint(c *fiber.Ctx) error {
	delivery, err := s.Notify.Test(c.UserContext(), account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(viewOfDelivery(notify.Delivered{DeliveryState: delivery}))
}

func (s *Server) listDeliveries(c *fiber.Ctx) error {
	var f fault.Faults
	p := page(c, &f)
	if err := f.Err(); err != nil {
		return err
	}
	found, err := s.Notify.Deliveries(c.UserContext(), account(c), c.Params("id"), p)
	if err != nil {
		return err
	}
	return c.JSON(list(found, viewOfDelivery))
}

func (s *Server) redeliver(c *fiber.Ctx) error {
	delivery, err := s.Notify.Redeliver(c.UserContext(), account(c), c.Params("id"), c.Params("deliveryId"))
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(viewOfDelivery(delivery))
}

type replayRequest struct {
	From *string `json:"from"`
	To   *string `json:"to"`
}

type replayView struct {
	Replayed int `json:"replayed"`
}

func (s *Server) replayEvents(c *fiber.Ctx) error {
	in, reading := decode[replayRequest](c)
	var f fault.Faults
	from, to := instant(&f, "from", in.From), instant(&f, "to", in.To)
	if err := together(reading, f.Err()); err != nil {
		return err
	}
	replayed, err := s.Notify.Replay(c.UserContext(), account(c), c.Params("id"), from, to)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(replayView{replayed})
}

func (s *Server) listEvents(c *fiber.Ctx) error {
	var f fault.Faults
	p := page(c, &f)
	if err := f.Err(); err != nil {
		return err
	}
	found, err := s.Notify.Events(c.UserContext(), account(c), p)
	if err != nil {
		return err
	}
	return c.JSON(list(found, event.Record.Envelope))
}

// eventTypeView is one line of the catalogue.
type eventTypeView struct {
	Type        event.Type      `json:"type"`
	Description string          `json:"description"`
	Advanced    bool            `json:"advanced"`
	Schema      json.RawMessage `json:"schema"`
}

func (s *Server) listEventTypes(c *fiber.Ctx) error {
	types := event.Catalogue()
	views := make([]eventTypeView, len(types))
	for i, t := range types {
		views[i] = eventTypeView{t.Type, t.Description, t.Advanced, t.Schema}
	}
	return c.JSON(listView[eventTypeView]{Data: views})
}
