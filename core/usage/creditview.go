package usage

import "sundry/core/apiformat"

// CreditView is a usage credit as integrators see it, in responses and in events alike.
type CreditView struct {
	ID                 string  `json:"id"`
	Livemode           bool    `json:"livemode"`
	CustomerID         string  `json:"customerId"`
	ExternalCustomerID *string `json:"externalCustomerId"`
	CheckoutID         *string `json:"checkoutId"`
	PaymentID          *string `json:"paymentId"`
	Currency           string  `json:"currency"`
	Meter              *string `json:"meter"`
	GrantedInCents     int64   `json:"grantedInCents"`
	UsedInCents        int64   `json:"usedInCents"`
	ReturnedInCents    int64   `json:"returnedInCents"`
	ExpiredInCents     int64   `json:"expiredInCents"`
	BalanceInCents     int64   `json:"balanceInCents"`
	Disputed           bool    `json:"disputed"`
	ExpiresAt          *string `json:"expiresAt"`
	CreatedAt          *string `json:"createdAt"`
	EndReason          *string `json:"endReason"`
	EndedAt            *string `json:"endedAt"`
}

// View renders a usage credit.
func (s CreditState) View(livemode bool) CreditView {
	return CreditView{
		ID: s.ID, Livemode: livemode, CustomerID: s.CustomerID, ExternalCustomerID: apiformat.Text(s.ExternalCustomerID),
		CheckoutID: apiformat.Text(s.CheckoutID), PaymentID: apiformat.Text(s.PaymentID), Currency: string(s.Currency),
		Meter: apiformat.Text(s.Meter), GrantedInCents: s.Granted, UsedInCents: s.Used, ReturnedInCents: s.Returned,
		ExpiredInCents: s.Expired, BalanceInCents: s.Rest(), Disputed: s.Disputed, ExpiresAt: apiformat.Time(s.ExpiresAt),
		CreatedAt: apiformat.Time(s.CreatedAt), EndReason: apiformat.Text(string(s.End)),
		EndedAt: apiformat.Time(s.EndedAt),
	}
}
