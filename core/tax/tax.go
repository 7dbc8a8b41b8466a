// Package tax decides how much value added tax a sale carries: where it is taxed, at which rate, and whether the seller
// or a business buyer owes it. It knows no rate itself: rates come from a dated Table.
package tax

import (
	"strconv"
	"time"

	"sundry/core/money"
)

// Behavior specifies whether a price contains its tax.
type Behavior string

// Inclusive is the default: the price shown is what the buyer pays, wherever they are.
const (
	Inclusive Behavior = "inclusive"
	Exclusive Behavior = "exclusive"
)

// Known reports whether the behavior is one of the two.
func (b Behavior) Known() bool { return b == Inclusive || b == Exclusive }

// Category groups what is taxed alike.
type Category string

// The categories. All are supplied where the buyer is: electronic services since 2015 (article 58 of Directive
// 2006/112/EC), live services over the internet since 2025 (article 54).
const (
	Electronic Category = "electronic"
	Service    Category = "service"
)

// Treatment is the reason for the tax of a sale.
type Treatment string

// The treatments of a sale.
const (
	// Undetermined: the buyer's country is not known yet.
	Undetermined Treatment = "undetermined"
	// Taxed: the seller collects the tax of the buyer's country.
	Taxed Treatment = "taxed"
	// ReverseCharge: a business in another member state accounts for the tax itself.
	ReverseCharge Treatment = "reverse_charge"
	// NotCollected: the seller is not registered for tax in the buyer's country.
	NotCollected Treatment = "not_collected"
)

// BasisPoints is a rate: 1900 is 19 %.
type BasisPoints int64

// Percent writes a rate in percent: 19, 8.1.
func (r BasisPoints) Percent() string {
	return strconv.FormatFloat(float64(r)/100, 'f', -1, 64)
}

// whole is 100 % in basis points.
const whole = 10_000

// Table holds the rates of every country where the seller is registered.
type Table interface {
	// Rate is the country's rate for a category on the given day; ok is false where no tax is collected.
	Rate(country string, category Category, at time.Time) (rate BasisPoints, ok bool)
}

// Line is one taxed part of a document, after discounts. It may be negative: a correction.
type Line struct {
	Amount   money.Amount
	Category Category
}

// Sale describes a sale to be taxed. All lines share one currency.
type Sale struct {
	Lines    []Line
	Behavior Behavior // "" is Inclusive
	// SellerCountry and BuyerCountry are ISO 3166-1 alpha-2; BuyerCountry is "" while it is unknown.
	SellerCountry string
	BuyerCountry  string
	// BuyerPostalCode locates the buyer in the country, as they gave it; "" while it is unknown.
	BuyerPostalCode string
	// BuyerTaxID is the VAT id that the buyer gave; "" for a consumer.
	BuyerTaxID string
	At         time.Time
}

// Share is the part of a document that is taxed at one rate.
type Share struct {
	Rate BasisPoints  `json:"rateBasisPoints"`
	Net  money.Amount `json:"net"`
	Tax  money.Amount `json:"tax"`
}

// Result is the tax of a document. Total = Net + Tax is what the buyer pays.
type Result struct {
	Treatment Treatment
	Behavior  Behavior
	Country   string
	// TaxID is the buyer's VAT id in its normal form, where it changed the treatment.
	TaxID  string
	Shares []Share // by rate, lowest first
	Net    money.Amount
	Tax    money.Amount
	Total  money.Amount
}

// Details explain the tax of an amount. They are frozen with its payment and shown on its documents.
type Details struct {
	Treatment Treatment `json:"treatment,omitempty"` // "" while no tax was computed
	Behavior  Behavior  `json:"behavior,omitempty"`
	Country   string    `json:"country,omitempty"`
	// TaxID is the buyer's VAT id, with a reverse charge.
	TaxID    string   `json:"taxId,omitempty"`
	Shares   []Share  `json:"shares,omitempty"`
	Evidence Evidence `json:"evidence,omitzero"`
}

// Details returns the reasons of the result.
func (r Result) Details() Details {
	return Details{Treatment: r.Treatment, Behavior: r.Behavior, Country: r.Country, TaxID: r.TaxID, Shares: r.Shares}
}
