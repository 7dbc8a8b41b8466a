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
		FailureReason: apiformat.Text(s.FailureReason), StatementURL: apiformat.Text(s.StatementURL),
		CreatedAt: apiformat.Time(s.CreatedAt), PaidAt: apiformat.Time(s.PaidAt),
		FailedAt: apiformat.Time(s.FailedAt),
	}
}

// AccountView is a payout account as the API shows it.
type AccountView struct {
	Status          AccountStatus `json:"status"`
	AccountID       *string       `json:"accountId"`
	Country         *string       `json:"country"`
	RequirementsDue []string      `json:"requirementsDue"`
	DisabledReason  *string       `json:"disabledReason"`
	CreatedAt       *string       `json:"createdAt"`
	UpdatedAt       *string       `json:"updatedAt"`
}

// View shows the account.
func (s AccountState) View() AccountView {
	return AccountView{
		Status: s.Status, AccountID: apiformat.Text(s.ID), Country: apiformat.Text(s.Country),
		RequirementsDue: append([]string{}, s.RequirementsDue...),
		DisabledReason:  apiformat.Text(s.DisabledReason), CreatedAt: apiformat.Time(s.CreatedAt),
		UpdatedAt: apiformat.Time(s.UpdatedAt),
	}
}
