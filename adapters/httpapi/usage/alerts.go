package usage

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/id"
	core "sundry/core/usage"
)

type alertView struct {
	ID               string         `json:"id"`
	SubscriptionID   string         `json:"subscriptionId"`
	MeterID          string         `json:"meterId"`
	Threshold        *core.Quantity `json:"threshold"`
	ThresholdPercent *int           `json:"thresholdPercent"`
	Livemode         bool           `json:"livemode"`
	CreatedAt        *string        `json:"createdAt"`
}

func (h handlers) newAlertView(a core.Alert) alertView {
	v := alertView{
		ID: a.ID, SubscriptionID: a.SubscriptionID, MeterID: a.MeterID, Livemode: h.Live,
		CreatedAt: apiformat.Time(a.CreatedAt),
	}
	if a.Percent > 0 {
		v.ThresholdPercent = &a.Percent
	} else {
		v.Threshold = &a.Threshold
	}
	return v
}

func (h handlers) createAlert(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[core.AlertDraft](c)
	_, invalid := in.Parse()
	if err := httpapi.MergeFieldErrors(reading, invalid); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, h.newAlertView)(
		h.Usage.CreateAlert(c.UserContext(), httpapi.Account(c), in),
	)
}

func (h handlers) listAlerts(c *fiber.Ctx) error {
	page, err := httpapi.QueryPage(c, id.UsageAlert)
	if err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newAlertView)(h.Usage.Alerts(c.UserContext(), httpapi.Account(c), page))
}

func (h handlers) getAlert(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newAlertView)(h.Usage.Alert(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) deleteAlert(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newAlertView)(h.Usage.DeleteAlert(c.UserContext(), httpapi.Account(c), c.Params("id")))
}
