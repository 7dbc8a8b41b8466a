package usage

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/fault"
	core "sundry/core/usage"
	"sundry/modules/usage"
)

type usedView struct {
	Quantity core.Quantity `json:"quantity"`
	Reports  int64         `json:"reports"`
}

type dayUsedView struct {
	Day string `json:"day"`
	usedView
}

type meterFiguresView struct {
	MeterID     string        `json:"meterId"`
	Key         string        `json:"key"`
	Name        string        `json:"name"`
	Aggregation string        `json:"aggregation"`
	Total       usedView      `json:"total"`
	Days        []dayUsedView `json:"days"`
}

func newFiguresView(f usage.Figures) httpapi.Figures[meterFiguresView] {
	meters := make([]meterFiguresView, len(f.Meters))
	for i, m := range f.Meters {
		meters[i] = meterFiguresView{
			MeterID: m.Meter.ID, Key: m.Meter.EventName, Name: m.Meter.Name, Aggregation: string(m.Meter.Aggregation),
			Total: usedView{m.Total.Quantity, m.Total.Reports}, Days: make([]dayUsedView, len(m.Days)),
		}
		for n, d := range m.Days {
			meters[i].Days[n] = dayUsedView{d.Day.String(), usedView{d.Quantity, d.Reports}}
		}
	}
	return httpapi.NewFigures(f.Days, f.CompleteThrough, meters)
}

func (h handlers) figures(c *fiber.Ctx) error {
	var f fault.Violations
	meterID := httpapi.QueryText(c, &f, "meterId")
	days, err := httpapi.QueryDays(c)
	_ = f.Merge(err) // its only error is a fault of the request
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.Respond(c, newFiguresView)(h.Usage.Figures(c.UserContext(), httpapi.Account(c), meterID, days))
}
