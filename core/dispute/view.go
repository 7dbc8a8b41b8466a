package dispute

import "sundry/core/apiformat"

// View is a dispute as the API and its events show it.
type View struct {
	ID            string        `json:"id"`
	PaymentID     string        `json:"paymentId"`
	CheckoutID    *string       `json:"checkoutId"`
	CustomerID    *string       `json:"customerId"`
	AmountInCents int64         `json:"amountInCents"`
	TaxInCents    int64         `json:"taxInCents"`
	Currency      string        `json:"currency"`
	Reason        string        `json:"reason"`
	Status        Status        `json:"status"`
	Evidence      *EvidenceView `json:"evidence"`
	Files         []FileView    `json:"files"`
	RespondBy     *string       `json:"respondBy"`
	CreatedAt     *string       `json:"createdAt"`
	ClosedAt      *string       `json:"closedAt"`
	// CreditNoteNumber is null unless the dispute is lost.
	CreditNoteNumber *string `json:"creditNoteNumber"`
}

// EvidenceView is the creator's part of the response. The lists are never null.
type EvidenceView struct {
	Text     string   `json:"text"`
	FileURLs []string `json:"fileUrls"`
	FileIDs  []string `json:"fileIds"`
}

// FileView is a file for the bank.
type FileView struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	ContentType string  `json:"contentType"`
	SizeInBytes int64   `json:"sizeInBytes"`
	CreatedAt   *string `json:"createdAt"`
}

// View shows the file.
func (f File) View() FileView {
	return FileView{
		ID: f.ID, Name: f.Name, ContentType: f.ContentType, SizeInBytes: f.Size, CreatedAt: apiformat.Time(f.CreatedAt),
	}
}

// View shows the dispute.
func (s State) View() View {
	v := View{
		ID: s.ID, PaymentID: s.PaymentID, CheckoutID: apiformat.Text(s.CheckoutID), CustomerID: apiformat.Text(s.CustomerID),
		AmountInCents: s.Share.Amount.Minor, TaxInCents: s.Share.Tax.Minor, Currency: string(s.Share.Amount.Currency),
		Reason: s.Reason,
		Status: s.Status, RespondBy: apiformat.Time(s.RespondBy), CreatedAt: apiformat.Time(s.CreatedAt),
		ClosedAt: apiformat.Time(s.ClosedAt), CreditNoteNumber: apiformat.Text(s.CreditNoteNumber), Files: []FileView{},
	}
	if s.Evidence.Text != "" {
		v.Evidence = &EvidenceView{
			Text: s.Evidence.Text, FileURLs: append([]string{}, s.Evidence.FileURLs...),
			FileIDs: append([]string{}, s.Evidence.FileIDs...),
		}
	}
	for _, f := range s.Files {
		v.Files = append(v.Files, f.View())
	}
	return v
}
