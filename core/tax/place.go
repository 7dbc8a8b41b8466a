package tax

import (
	"strings"
	"time"
)

// members are the European Union's member states.
const members = " AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK "

// InEU reports whether a country (ISO 3166-1 alpha-2, capitals) is a member state.
func InEU(country string) bool {
	return len(country) == 2 && strings.Contains(members, " "+country+" ")
}

// Evidence contains the known indications of a buyer's location, each a country or "". Article 24f of Regulation
// 282/2011 asks for two pieces that do not contradict each other.
type Evidence struct {
	// Declared is the billing country that the buyer gave.
	Declared string `json:"declared,omitempty"`
	// ClientAddress is the country of the network address, as a proxy in front of us reports it.
	ClientAddress string `json:"clientAddress,omitempty"`
	// Card is the country of the card's issuer, known once it was charged.
	Card string `json:"card,omitempty"`
	// VATCheck is the register's report on the VAT id for which no tax is charged.
	VATCheck VATCheck `json:"vatCheck,omitzero"`
}

// VATCheck is the report of a register of VAT ids. The zero value stands for an id that no register was asked about, or
// none responded for: then only its shape and check digits were checked.
type VATCheck struct {
	// ID is the id with its prefix, in its normal form.
	ID         string    `json:"id"`
	Registered bool      `json:"registered"`
	CheckedAt  time.Time `json:"checkedAt,omitzero"`
	// Consultation is the register's number of the check; "" where it gives none.
	Consultation string `json:"consultation,omitempty"`
}

// Covers reports whether the check is about an id of a country.
func (c VATCheck) Covers(country, id string) bool {
	prefix, number := SplitVATID(country, id)
	return c.ID != "" && c.ID == prefix+number
}

// Country returns the country in which the sale is taxed. proven is true when two pieces of evidence agree. Until then
// the buyer's own declaration decides, and without it any other piece.
func (e Evidence) Country() (country string, proven bool) {
	switch {
	case e.Declared != "" && (e.Declared == e.ClientAddress || e.Declared == e.Card):
		return e.Declared, true
	case e.ClientAddress != "" && e.ClientAddress == e.Card:
		return e.ClientAddress, true
	case e.Declared != "":
		return e.Declared, false
	case e.Card != "":
		return e.Card, false
	}
	return e.ClientAddress, false
}
