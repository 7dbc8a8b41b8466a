package checkout

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"sundry/core/country"
	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/core/tax"
)

// Terms are the texts of others that a sale refers to.
type Terms struct {
	// Merchant is the seller of record, and URL the address of its terms; "" where it has none.
	Merchant, URL string
	// Shop is the creator's name, and RefundPolicy the policy's text; "" where they have none.
	Shop, RefundPolicy string
}

// Agreement holds the terms that a buyer accepts with the payment button, in the words that they read.
type Agreement struct {
	terms  Terms
	reader locale.Locale
	// atOnce means that they get for money what is supplied at once.
	atOnce bool
}

// Agreement returns what a buyer of the session agrees to.
func (s State) Agreement(terms Terms, reader locale.Locale) Agreement {
	return Agreement{terms: terms, reader: reader, atOnce: s.NeedsCard() && s.Offer.ListingType.SuppliesAtOnce()}
}

// refundPolicyAnchor leads to the refund policy on the page.
const refundPolicyAnchor = "#refund-policy"

// Phrase is a part of a sentence, with the address that it leads to; "" for none.
type Phrase struct{ Text, URL string }

// Statement returns the sentence beside the button, in parts; nil where the sale refers to no text.
func (a Agreement) Statement() []Phrase {
	var texts []Phrase
	if a.terms.URL != "" {
		texts = append(texts, Phrase{a.reader.Text("consent.terms", a.terms.Merchant), a.terms.URL})
	}
	if a.terms.RefundPolicy != "" {
		texts = append(texts, Phrase{a.reader.Text("consent.refunds", a.terms.Shop), refundPolicyAnchor})
	}
	if len(texts) == 0 {
		return nil
	}
	const mark = "\x00"
	sentence := a.reader.Text("consent.one", mark)
	if len(texts) > 1 {
		sentence = a.reader.Text("consent.both", mark, mark)
	}
	var all []Phrase
	for i, words := range strings.Split(sentence, mark) {
		all = append(all, Phrase{Text: words})
		if i < len(texts) {
			all = append(all, texts[i])
		}
	}
	return all
}

// ImmediateSupply returns the sentence of the box by which a buyer with a right of withdrawal asks for supply at once
// and acknowledges what that does to their right; "" where nothing is supplied at once.
func (a Agreement) ImmediateSupply() string {
	if !a.atOnce {
		return ""
	}
	return a.reader.Text("consent.supply")
}

// Key identifies the texts and their language, so that a payment names what its page showed.
func (a Agreement) Key() string {
	sum := sha256.Sum256([]byte(strings.Join(
		[]string{a.statement(), a.terms.URL, a.terms.RefundPolicy, a.ImmediateSupply()}, "\x00",
	)))
	return a.reader.Tag() + "." + hex.EncodeToString(sum[:8])
}

func (a Agreement) statement() string {
	var b strings.Builder
	for _, phrase := range a.Statement() {
		b.WriteString(phrase.Text)
	}
	return b.String()
}

// economicArea are the countries beside the Union's whose law gives buyers the same right of withdrawal: the rest of
// the European Economic Area, and the United Kingdom, which kept the directive's rules.
var economicArea = []string{"GB", "IS", "LI", "NO"}

// hasWithdrawal reports whether consumers in a country have a right of withdrawal (Directive 2011/83/EU, article 9).
func hasWithdrawal(code string) bool { return tax.InEU(code) || slices.Contains(economicArea, code) }

// WithdrawalCountries lists the countries of hasWithdrawal, by code.
func WithdrawalCountries() []string {
	var all []string
	for _, c := range country.List("") {
		if hasWithdrawal(c.Code) {
			all = append(all, c.Code)
		}
	}
	slices.Sort(all)
	return all
}

// Consent is the evidence of what a buyer agreed to when they paid. Its words are those that they read.
type Consent struct {
	AcceptedAt time.Time `json:"acceptedAt"` // account time
	// Locale is the language of the words, BCP 47.
	Locale string `json:"locale"`
	// Statement is the sentence beside the button; "" where the sale referred to no text.
	Statement string `json:"statement,omitempty"`
	// TermsURL is the address of the terms, and RefundPolicy the PolicyHash of the creator's policy; "" for none.
	TermsURL     string `json:"termsUrl,omitempty"`
	RefundPolicy string `json:"refundPolicy,omitempty"`
	// ImmediateSupply is the sentence of the box that they ticked; "" where there was none.
	ImmediateSupply string `json:"immediateSupply,omitempty"`
	// From is the network and the browser of the buyer. It is stored apart from the words.
	From ConsentOrigin `json:"-"`
}

// ConsentOrigin names the network and the browser from which a buyer agreed. Both members may be empty.
type ConsentOrigin struct {
	Network   string `json:"network,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
}

// PolicyHash identifies the text of a refund policy: its SHA-256 in hexadecimal; "" for none.
func PolicyHash(policy string) string {
	if policy == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(policy))
	return hex.EncodeToString(sum[:])
}

// Acceptance is the part of a page's payment that says which terms the buyer was shown and accepted.
type Acceptance struct {
	// Shown is the Key of the agreement that the page showed; "" where it showed none.
	Shown string
	// ImmediateSupply is true where the buyer ticked the box.
	ImmediateSupply bool
	From            ConsentOrigin
}

// Reader returns the language in which the texts were shown.
func (a Acceptance) Reader() locale.Locale {
	tag, _, _ := strings.Cut(a.Shown, ".")
	return locale.ParseTag(tag)
}

// Accept keeps what the buyer agrees to with the payment that is about to start; the revision is that payment's.
// VALIDATION_FAILED at immediateSupply where the buyer has a right of withdrawal and did not ask for supply at once,
// STATE_CONFLICT where the page showed other texts than those of the agreement.
func (c *Session) Accept(a Agreement, given Acceptance, now time.Time) error {
	asked := a.ImmediateSupply()
	if !hasWithdrawal(c.s.Buyer.Country) || c.s.Buyer.TaxID != "" { // a business names its VAT id
		asked = ""
	}
	if asked != "" && (!given.ImmediateSupply || given.Shown == "") {
		return fault.Invalid(fault.Detail{
			Field: "immediateSupply", Code: fault.DetailRequired,
			Message: "Ask for access right away and acknowledge what that does to your right of withdrawal.",
		})
	}
	c.s.Consent = nil
	if given.Shown == "" {
		return nil
	}
	if given.Shown != a.Key() {
		return fault.New(fault.StateConflict, "The terms of this order have changed. Reload the page and read them again.")
	}
	consent := Consent{
		AcceptedAt: now, Locale: a.reader.Tag(), Statement: a.statement(), TermsURL: a.terms.URL,
		RefundPolicy: PolicyHash(a.terms.RefundPolicy), ImmediateSupply: asked, From: given.From,
	}
	if consent.Statement != "" || asked != "" {
		c.s.Consent = &consent
	}
	return nil
}
