package dispute

import "sundry/core/apiformat"

// View is a dispute as the API and its events show it.
type View struct {
	ID            string    `json:"id"`
	PaymentID     string    `json:"paymentId"`
	CheckoutID    *string   `json:"checkoutId"`
	CustomerID    *string   `json:"customerId"`
	AmountInCents int64     `json:"amountInCents"`
	TaxInCents    int64     `json:"taxInCents"`
	Currency      string    `json:"currency"`
	Reason        string    `json:"reason"`
	Status        Status    `json:"status"`
	Evidence      *Evidence `json:"evidence"`
	RespondBy     *string   `json:"respondBy"`
	CreatedAt     *string   `json:"createdAt"`
	ClosedAt      *string   `json:"closedAt"`
	// CreditNoteNumber is null unless the dispute is lost.
	CreditNoteNumber *string `json:"creditNoteNumber"`
}

// View shows the dispute.
func (s State) View() View {
	v := View{
		ID: s.ID, PaymentID: s.PaymentID, CheckoutID: apiformat.Text(s.CheckoutID), CustomerID: apiformat.Text(s.CustomerID),
		AmountInCents: s.Share.Amount.Minor, TaxInCents: s.Share.Tax.Minor, Currency: string(s.Share.Amount.Currency),
		Reason: s.Reason,
		Status: s.Status, RespondBy: apiformat.Time(s.RespondBy), CreatedAt: apiformat.Time(s.CreatedAt),
		ClosedAt: apiformat.Time(s.ClosedAt), CreditNoteNumber: apiformat.Text(s.CreditNoteNumber),
	}
	if s.Evidence.Text != "" {
		v.Evidence = &Evidence{Text: s.Evidence.Text, FileURLs: append([]string{}, s.Evidence.FileURLs...)}
	}
	return v
}
