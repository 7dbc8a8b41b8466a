package payout

import "sundry/core/apiformat"

// View is a payout as the API and the event payout.paid show it.
type View struct {
	ID            string  `json:"id"`
	AmountInCents int64   `json:"amountInCents"`
	Currency      string  `json:"currency"`
	Status        Status  `json:"status"`
	FailureReason *string `json:"failureReason"`
	StatementURL  *string `json:"statementUrl"`
	CreatedAt     *string `json:"createdAt"`
	PaidAt        *string `json:"paidAt"`
	FailedAt      *string `json:"failedAt"`
}

// View shows the payout.
func (s State) View() View {
	return View{
		ID: s.ID, AmountInCents: s.Amount.Minor, Currency: string(s.Amount.Currency), Status: s.Status,
		FailureReason: apiformat.Text(s.FailureReason), StatementURL: apiformat.Text(s.StatementURL), CreatedAt: apiformat.Time(s.CreatedAt), PaidAt: apiformat.Time(s.PaidAt),
		FailedAt: apiformat.Time(s.FailedAt),
	}
}
