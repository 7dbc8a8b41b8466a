package booking

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/ports"
)

func (h handlers) appointmentRoutes() []httpapi.Route {
	const one = "/v1/appointments/:id"
	return []httpapi.Route{
		{
			Method: fiber.MethodGet, Path: "/v1/appointments", Auth: httpapi.SecretKey, Handle: h.listAppointments, MayBeStale: true,
		},
		{Method: fiber.MethodGet, Path: one, Auth: httpapi.SecretKey, Handle: h.getAppointment},
		{
			Method: fiber.MethodPost, Path: one + "/reschedule", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, WhileSuspended: true, Handle: h.rescheduleAppointment,
		},
		{
			Method: fiber.MethodPost, Path: one + "/cancel", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, WhileSuspended: true, Handle: h.cancelAppointment,
		},
		{
			Method: fiber.MethodPost, Path: one + "/outcome", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, WhileSuspended: true, Handle: h.recordOutcome,
		},
	}
}

func (h handlers) newAppointmentView(a appointment.State) appointment.View {
	v, live := a.View(), h.Live
	v.Livemode, v.ManageURL = &live, h.Booking.ManageURL(a.ID)
	return v
}

func (h handlers) listAppointments(c *fiber.Ctx) error {
	var f fault.Violations
	p := httpapi.ReadPage(c, &f, id.Appointment)
	search := ports.AppointmentSearch{
		ExternalCustomerID: httpapi.QueryText(c, &f, "externalCustomerId"), ListingID: c.Query("listingId"),
		From: httpapi.QueryTime(c, &f, "from"), To: httpapi.QueryTime(c, &f, "to"),
	}
	f.Check(
		search.ListingID == "" || id.Valid(id.Listing, search.ListingID), "listingId", fault.DetailInvalid,
		"Expected the id of a listing, lst_….",
	)
	search.Status = httpapi.QueryOneOf(c, &f, "status", appointment.StatusConfirmed, appointment.StatusCanceled)
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newAppointmentView)(
		h.Booking.Appointments(c.UserContext(), httpapi.Account(c), search, p),
	)
}

func (h handlers) getAppointment(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newAppointmentView)(
		h.Booking.Appointment(c.UserContext(), httpapi.Account(c), c.Params("id")),
	)
}

type rescheduleRequest struct {
	AppointmentSlot *httpapi.SlotRequest `json:"appointmentSlot"`
}

func (h handlers) rescheduleAppointment(c *fiber.Ctx) error {
	in, malformed := httpapi.Decode[rescheduleRequest](c)
	pick, invalid := in.AppointmentSlot.Choice("appointmentSlot")
	if err := civil.AsInvalidTimezone(httpapi.MergeFieldErrors(malformed, invalid)); err != nil {
		return err
	}
	return httpapi.Respond(c, h.newAppointmentView)(
		h.Booking.Reschedule(c.UserContext(), httpapi.Account(c), c.Params("id"), pick),
	)
}

type cancelRequest struct {
	Reason *string `json:"reason"`
	Refund *bool   `json:"refund"`
	// WholeTime cancels everybody's who shares the time.
	WholeTime *bool `json:"wholeTime"`
}

func (h handlers) cancelAppointment(c *fiber.Ctx) error {
	in, err := httpapi.DecodeOptional[cancelRequest](c)
	if err != nil {
		return err
	}
	cancel := h.Cancellations.Cancel
	if in.WholeTime != nil && *in.WholeTime {
		cancel = h.Cancellations.CancelTime
	}
	return httpapi.Respond(c, h.newAppointmentView)(cancel(
		c.UserContext(), httpapi.Account(c), c.Params("id"), httpapi.ValueOf(in.Reason), in.Refund == nil || *in.Refund,
	))
}

type outcomeRequest struct {
	Outcome *string `json:"outcome"`
}

func (h handlers) recordOutcome(c *fiber.Ctx) error {
	in, malformed := httpapi.Decode[outcomeRequest](c)
	outcome := appointment.Outcome(httpapi.ValueOf(in.Outcome))
	invalid := appointment.CheckOutcome(outcome)
	if in.Outcome != nil && outcome == "" {
		invalid = appointment.CheckOutcome("empty") // only null takes an outcome back
	}
	if err := httpapi.MergeFieldErrors(malformed, invalid); err != nil {
		return err
	}
	return httpapi.Respond(c, h.newAppointmentView)(
		h.Booking.RecordOutcome(c.UserContext(), httpapi.Account(c), c.Params("id"), outcome),
	)
}
