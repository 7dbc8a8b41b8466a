package refund

import "sundry/core/apiformat"

// View is a refund as the API and the event refund.created show it.
type View struct {
	ID               string            `json:"id"`
	PaymentID        string            `json:"paymentId"`
	CheckoutID       *string           `json:"checkoutId"`
	CustomerID       *string           `json:"customerId"`
	AmountInCents    int64             `json:"amountInCents"`
	TaxInCents       int64             `json:"taxInCents"`
	Currency         string            `json:"currency"`
	Reason           string            `json:"reason"`
	KeepAccess       bool              `json:"keepAccess"`
	Subscription     *string           `json:"subscription"`
	Status           Status            `json:"status"`
	FailureReason    *string           `json:"failureReason"`
	CreditNoteNumber *string           `json:"creditNoteNumber"`
	CreditNoteURL    *string           `json:"creditNoteUrl"`
	CreatedAt        *string           `json:"createdAt"`
	SettledAt        *string           `json:"settledAt"`
	Metadata         map[string]string `json:"metadata"`
}

// View shows the refund.
func (s State) View() View {
	return View{
		ID: s.ID, PaymentID: s.PaymentID, CheckoutID: apiformat.Text(s.CheckoutID), CustomerID: apiformat.Text(s.CustomerID),
		AmountInCents: s.Share.Amount.Minor, TaxInCents: s.Share.Tax.Minor, Currency: string(s.Share.Amount.Currency),
		Reason:     s.Reason,
		KeepAccess: s.KeepAccess, Subscription: apiformat.Text(string(s.Subscription)), Status: s.Status,
		FailureReason:    apiformat.Text(s.FailureReason),
		CreditNoteNumber: apiformat.Text(s.CreditNoteNumber), CreditNoteURL: apiformat.Text(s.CreditNoteURL),
		CreatedAt: apiformat.Time(s.CreatedAt), SettledAt: apiformat.Time(s.SettledAt),
		Metadata: s.Metadata.Map(),
	}
}
