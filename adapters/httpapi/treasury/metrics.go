package treasury

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/ledger"
	"sundry/modules/treasury"
)

// figuresView are the figures of a time.
type figuresView struct {
	Sales           int64 `json:"sales"`
	GrossInCents    int64 `json:"grossInCents"`
	RefundsInCents  int64 `json:"refundsInCents"`
	DisputesInCents int64 `json:"disputesInCents"`
	TaxInCents      int64 `json:"taxInCents"`
	FeesInCents     int64 `json:"feesInCents"`
	NetInCents      int64 `json:"netInCents"`
}

func newFiguresView(f ledger.Figures) figuresView {
	return figuresView{
		Sales: f.Sales, GrossInCents: f.Gross, RefundsInCents: f.Refunds, DisputesInCents: f.Disputes, TaxInCents: f.Tax,
		FeesInCents: f.Fees, NetInCents: f.Net(),
	}
}

type dayFiguresView struct {
	Day string `json:"day"`
	figuresView
}

// currencyRevenueView is the revenue in one currency.
type currencyRevenueView struct {
	Currency string           `json:"currency"`
	Total    figuresView      `json:"total"`
	Days     []dayFiguresView `json:"days"`
}

func newRevenueView(r treasury.Revenue) httpapi.Figures[currencyRevenueView] {
	currencies := []currencyRevenueView{}
	for currency, days := range r.ByCurrency() {
		one := currencyRevenueView{Currency: string(currency), Days: make([]dayFiguresView, len(days))}
		var total ledger.Figures
		for i, d := range days {
			total = total.Plus(d.Figures)
			one.Days[i] = dayFiguresView{d.Day.String(), newFiguresView(d.Figures)}
		}
		one.Total = newFiguresView(total)
		currencies = append(currencies, one)
	}
	return httpapi.NewFigures(r.Days, r.CompleteThrough, currencies)
}

func (h handlers) getRevenue(c *fiber.Ctx) error {
	days, err := httpapi.QueryDays(c)
	if err != nil {
		return err
	}
	return httpapi.Respond(c, newRevenueView)(h.Treasury.Revenue(c.UserContext(), httpapi.Account(c), days))
}
