package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/wire"
	"sundry/ports"
)

func (s *Server) appointmentRoutes() []Route {
	const one = "/v1/appointments/:id"
	return []Route{
		{Method: fiber.MethodGet, Path: "/v1/appointments", Gate: SecretKey, Handle: s.listAppointments},
		{Method: fiber.MethodGet, Path: one, Gate: SecretKey, Handle: s.getAppointment},
		{Method: fiber.MethodPost, Path: one + "/reschedule", Gate: SecretKey, Once: OnceInTransaction, Handle: s.rescheduleAppointment},
		{Method: fiber.MethodPost, Path: one + "/cancel", Gate: SecretKey, Once: OnceInTransaction, Handle: s.cancelAppointment},
	}
}

// appointmentView is an appointment (contract §7).
type appointmentView struct {
	ID                 string                   `json:"id"`
	Status             appointment.Status       `json:"status"`
	Livemode           bool                     `json:"livemode"`
	ListingID          string                   `json:"listingId"`
	VariantID          string                   `json:"variantId"`
	CheckoutID         string                   `json:"checkoutId"`
	ExternalCustomerID *string                  `json:"externalCustomerId"`
	StartsAt           *string                  `json:"startsAt"`
	EndsAt             *string                  `json:"endsAt"`
	Timezone           string                   `json:"timezone"`
	DeliveryMode       appointment.DeliveryMode `json:"deliveryMode"`
	MeetingURL         *string                  `json:"meetingUrl"`
	Address            *string                  `json:"address"`
	CancelReason       *string                  `json:"cancelReason"`
	CanceledAt         *string                  `json:"canceledAt"`
	ManageURL          string                   `json:"manageUrl"`
	CreatedAt          *string                  `json:"createdAt"`
}

func (s *Server) appointmentView(a appointment.State) appointmentView {
	return appointmentView{
		ID: a.ID, Status: a.Status, Livemode: !s.cfg.Sandbox, ListingID: a.ListingID, VariantID: a.VariantID, CheckoutID: a.CheckoutID,
		ExternalCustomerID: wire.Text(a.ExternalCustomerID), StartsAt: wire.Time(a.StartsAt), EndsAt: wire.Time(a.EndsAt), Timezone: a.Timezone,
		DeliveryMode: a.DeliveryMode, MeetingURL: wire.Text(a.MeetingURL), Address: wire.Text(a.Address),
		CancelReason: wire.Text(a.CancelReason), CanceledAt: wire.Time(a.CanceledAt), ManageURL: s.Booking.ManageURL(a.ID), CreatedAt: wire.Time(a.CreatedAt),
	}
}

func (s *Server) listAppointments(c *fiber.Ctx) error {
	var f fault.Faults
	p := page(c, &f)
	search := ports.AppointmentSearch{
		ExternalCustomerID: queryText(c, &f, "externalCustomerId"), ListingID: c.Query("listingId"), Status: appointment.Status(c.Query("status")),
		From: instant(&f, "from", wire.Text(c.Query("from"))), To: instant(&f, "to", wire.Text(c.Query("to"))),
	}
	f.Check(search.ListingID == "" || id.Valid(id.Listing, search.ListingID), "listingId", fault.DetailInvalid, "Expected the id of a listing, lst_….")
	f.Check(search.Status == "" || search.Status == appointment.StatusConfirmed || search.Status == appointment.StatusCanceled, "status",
		fault.DetailNotAllowed, "Expected confirmed or canceled.")
	if err := f.Err(); err != nil {
		return err
	}
	found, err := s.Booking.Appointments(c.UserContext(), account(c), search, p)
	if err != nil {
		return err
	}
	return c.JSON(list(found, s.appointmentView))
}

func (s *Server) getAppointment(c *fiber.Ctx) error {
	a, err := s.Booking.Appointment(c.UserContext(), account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.JSON(s.appointmentView(a))
}

type rescheduleRequest struct {
	AppointmentSlot *slotRequest `json:"appointmentSlot"`
}

func (s *Server) rescheduleAppointment(c *fiber.Ctx) error {
	in, reading := decode[rescheduleRequest](c)
	pick, judging := in.AppointmentSlot.pick("appointmentSlot")
	if err := civil.Refusal(together(reading, judging)); err != nil {
		return err
	}
	a, err := s.Booking.Reschedule(c.UserContext(), account(c), c.Params("id"), pick)
	if err != nil {
		return err
	}
	return c.JSON(s.appointmentView(a))
}

type cancelRequest struct {
	Reason *string `json:"reason"`
}

func (s *Server) cancelAppointment(c *fiber.Ctx) error {
	var in cancelRequest
	if len(c.Body()) > 0 { // there is nothing that it must say
		var err error
		if in, err = decode[cancelRequest](c); err != nil {
			return err
		}
	}
	a, err := s.Booking.Cancel(c.UserContext(), account(c), c.Params("id"), or(in.Reason))
	if err != nil {
		return err
	}
	return c.JSON(s.appointmentView(a))
}
