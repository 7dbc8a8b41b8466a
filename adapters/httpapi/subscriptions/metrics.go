package subscriptions

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/subscription"
	"sundry/modules/subscriptions"
)

// movesView shows movements of the MRR by kind: amounts as they are called, counts of subscriptions and of trials.
type movesView struct {
	NewInCents          int64 `json:"newInCents"`
	ExpansionInCents    int64 `json:"expansionInCents"`
	ContractionInCents  int64 `json:"contractionInCents"`
	ChurnInCents        int64 `json:"churnInCents"`
	ReactivationInCents int64 `json:"reactivationInCents"`
	Started             int64 `json:"started"`
	Churned             int64 `json:"churned"`
	Reactivated         int64 `json:"reactivated"`
	TrialsStarted       int64 `json:"trialsStarted"`
	TrialsConverted     int64 `json:"trialsConverted"`
	TrialsLost          int64 `json:"trialsLost"`
}

func newMovesView(m subscriptions.Moves) movesView {
	return movesView{
		NewInCents: m[subscription.NewRevenue].Minor, ExpansionInCents: m[subscription.Expansion].Minor,
		ContractionInCents: -m[subscription.Contraction].Minor, ChurnInCents: -m[subscription.Churn].Minor,
		ReactivationInCents: m[subscription.Reactivation].Minor, Started: m[subscription.NewRevenue].Count,
		Churned: m[subscription.Churn].Count, Reactivated: m[subscription.Reactivation].Count,
		TrialsStarted: m[subscription.TrialStarted].Count, TrialsConverted: m[subscription.TrialConverted].Count,
		TrialsLost: m[subscription.TrialLost].Count,
	}
}

// standingView is the MRR at an instant.
type standingView struct {
	MRRInCents    int64 `json:"mrrInCents"`
	Subscriptions int64 `json:"subscriptions"`
}

func newStandingView(s subscriptions.Standing) standingView {
	return standingView{s.MRR, s.Subscriptions}
}

type dayMovesView struct {
	Day string `json:"day"`
	standingView
	movesView
}

type currencyFiguresView struct {
	Currency        string         `json:"currency"`
	Opening         standingView   `json:"opening"`
	Closing         standingView   `json:"closing"`
	Movements       movesView      `json:"movements"`
	ChurnRate       *float64       `json:"churnRate"`
	TrialConversion *float64       `json:"trialConversion"`
	Days            []dayMovesView `json:"days"`
}

func newFiguresView(f subscriptions.Figures) httpapi.Figures[currencyFiguresView] {
	currencies := make([]currencyFiguresView, len(f.Currencies))
	for i, c := range f.Currencies {
		one := currencyFiguresView{
			Currency: string(c.Currency), Opening: newStandingView(c.Opening), Closing: newStandingView(c.Closing()),
			Movements: newMovesView(c.Total), Days: make([]dayMovesView, len(c.Days)),
		}
		if rate, ok := c.ChurnRate(); ok {
			one.ChurnRate = &rate
		}
		if rate, ok := c.TrialConversion(); ok {
			one.TrialConversion = &rate
		}
		for j, d := range c.Days {
			one.Days[j] = dayMovesView{d.Day.String(), newStandingView(d.Closing), newMovesView(d.Moves)}
		}
		currencies[i] = one
	}
	return httpapi.NewFigures(f.Days, f.CompleteThrough, currencies)
}

func (h handlers) getFigures(c *fiber.Ctx) error {
	days, err := httpapi.QueryDays(c)
	if err != nil {
		return err
	}
	return httpapi.Respond(c, newFiguresView)(h.Subscriptions.Figures(c.UserContext(), httpapi.Account(c), days))
}
