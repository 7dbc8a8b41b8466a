// Package booking is the API of time: availability, the public calendar and appointments.
package booking

import (
	_ "embed"
	"slices"

	"sundry/adapters/httpapi"
	"sundry/modules/booking"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Live          bool
	Booking       *booking.Service
	Cancellations *booking.Cancellations
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route {
	h := handlers{d}
	return slices.Concat(h.schedulingRoutes(), h.appointmentRoutes())
}
