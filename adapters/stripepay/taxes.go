package stripepay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stripe/stripe-go/v76"

	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/tax"
	"sundry/ports"
)

const (
	// taxTimeout bounds one calculation: a buyer is waiting.
	taxTimeout = 5 * time.Second
	// taxMemory is the time for which a calculation is used again. It only has to outlive the transaction that asked for
	// it.
	taxMemory = 5 * time.Minute
	// maxTaxes bounds the calculations that are kept.
	maxTaxes = 10_000
)

// taxCodes are Stripe's product tax codes of our categories: electronically supplied services, and services in general.
var taxCodes = map[tax.Category]string{tax.Electronic: "txcd_10000000", tax.Service: "txcd_20030000"}

// Taxes is Stripe Tax behind ports.TaxCalculator. Where the seller is and where they are registered is set in Stripe.
type Taxes struct {
	processor *Processor
	now       func() time.Time

	mu    sync.Mutex
	known map[string]knownTax
}

type knownTax struct {
	result tax.Result
	until  time.Time
}

var _ ports.TaxCalculator = (*Taxes)(nil)

// NewTaxes returns the calculator of the processor's account.
func NewTaxes(p *Processor, now func() time.Time) *Taxes {
	return &Taxes{processor: p, now: now, known: map[string]knownTax{}}
}

// Calculate implements ports.TaxCalculator. A calculation that Stripe was not asked for lately is fetched before the
// transaction. Stripe is not asked about a sale of zero, nor before the buyer's country is known.
func (t *Taxes) Calculate(_ context.Context, s tax.Sale) (tax.Result, error) {
	if s.Behavior == "" {
		s.Behavior = tax.Inclusive
	}
	without, err := untaxed(s)
	if err != nil || s.BuyerCountry == "" || without.Total.Minor == 0 {
		return without, err
	}
	if currency := s.Lines[0].Amount.Currency; chargeable(without.Total) != nil || Unit(currency) != 1 {
		return tax.Result{}, fault.New(fault.ProcessorUnavailable, "Tax in this currency can't be calculated: "+
			string(currency)+".")
	}
	sums := sumByCategory(s.Lines)
	key := taxKey(s, sums)
	if result, ok := t.recall(key); ok {
		return result, nil
	}
	return tax.Result{}, &ports.PrefetchError{What: "the tax from Stripe", Fetch: func(ctx context.Context) error {
		result, err := t.request(ctx, s, sums)
		switch refused := refusal(err); {
		case refused != nil && refused.code == "customer_tax_location_invalid":
			result = without // such as the United States without a postal code
		case err != nil:
			return fault.Wrap(fault.ProcessorUnavailable, "The tax can't be calculated right now. Try again in a moment.", err)
		}
		t.remember(key, result)
		return nil
	}}
}

// untaxed is a sale whose tax is not determined.
func untaxed(s tax.Sale) (tax.Result, error) {
	country := s.BuyerCountry
	s.BuyerCountry = ""
	result, err := tax.Calculate(s, nil) // without a country no rate is read
	result.Country = country
	return result, err
}

// sumByCategory adds up what Stripe taxes alike. That the lines can be added was seen before.
func sumByCategory(lines []tax.Line) map[tax.Category]int64 {
	sums := map[tax.Category]int64{}
	for _, line := range lines {
		sums[line.Category] += line.Amount.Minor
	}
	return sums
}

// taxKey is everything that the tax depends on.
func taxKey(s tax.Sale, sums map[tax.Category]int64) string {
	return fmt.Sprintf("%q", []string{
		string(s.Lines[0].Amount.Currency), string(s.Behavior), s.BuyerCountry, s.BuyerPostalCode, s.BuyerTaxID,
		s.At.UTC().Format(time.DateOnly), fmt.Sprint(sums),
	})
}

func (t *Taxes) recall(key string) (tax.Result, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.known[key]
	return known.result, ok && t.now().Before(known.until)
}

// remember keeps a calculation. When there are too many, the old ones go first, then any.
func (t *Taxes) remember(key string, result tax.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if len(t.known) >= maxTaxes {
		maps.DeleteFunc(t.known, func(_ string, k knownTax) bool { return !now.Before(k.until) })
	}
	for key := range t.known {
		if len(t.known) < maxTaxes {
			break
		}
		delete(t.known, key)
	}
	t.known[key] = knownTax{result, now.Add(taxMemory)}
}

// request asks Stripe. A tax id that Stripe refuses is left out: the buyer is taxed as a consumer then.
func (t *Taxes) request(ctx context.Context, s tax.Sale, sums map[tax.Category]int64) (tax.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, taxTimeout)
	defer cancel()
	params := taxParams(ctx, s, sums)
	made, err := t.processor.api.TaxCalculations.New(params)
	if known := (*stripe.Error)(nil); errors.As(err, &known) && known.Code == "tax_id_invalid" &&
		params.CustomerDetails.TaxIDs != nil {
		s.BuyerTaxID = ""
		made, err = t.processor.api.TaxCalculations.New(taxParams(ctx, s, sums))
	}
	if err != nil {
		return tax.Result{}, failed("calculate tax", err)
	}
	return taxResult(s, made)
}

func taxParams(ctx context.Context, s tax.Sale, sums map[tax.Category]int64) *stripe.TaxCalculationParams {
	params := &stripe.TaxCalculationParams{
		// A calculation has no effect, and one that Stripe repeats could be of a day that is over.
		Params: keyed(ctx, "tax:"+rand.Text()), Currency: new(string(s.Lines[0].Amount.Currency)),
		CustomerDetails: &stripe.TaxCalculationCustomerDetailsParams{
			Address:       &stripe.AddressParams{Country: new(s.BuyerCountry)},
			AddressSource: new(string(stripe.TaxCalculationCustomerDetailsAddressSourceBilling)),
		},
	}
	if s.BuyerPostalCode != "" {
		params.CustomerDetails.Address.PostalCode = new(s.BuyerPostalCode)
	}
	if kind, value := taxID(s.BuyerCountry, s.BuyerTaxID); kind != "" {
		params.CustomerDetails.TaxIDs = []*stripe.TaxCalculationCustomerDetailsTaxIDParams{{Type: new(kind),
			Value: new(value)}}
	}
	for _, category := range slices.Sorted(maps.Keys(sums)) {
		params.LineItems = append(params.LineItems, &stripe.TaxCalculationLineItemParams{
			Amount: new(sums[category]), Reference: new(string(category)), TaxBehavior: new(string(s.Behavior)),
			TaxCode: new(taxCodes[category]),
		})
	}
	params.AddExpand("line_items.data.tax_breakdown")
	return params
}

// taxID is a buyer's id as Stripe writes it; "" for one that cannot be the country's.
func taxID(country, id string) (kind, value string) {
	if id == "" || tax.CheckVATID(country, id) != nil {
		return "", ""
	}
	prefix, number := tax.SplitVATID(country, id)
	switch {
	case tax.InEU(country):
		return "eu_vat", prefix + number
	case country == "GB":
		return "gb_vat", prefix + number
	case country == "NO":
		return "no_vat", strings.TrimSuffix(number, "MVA") + "MVA"
	case country == "CH":
		digits, suffix := number[:9], number[9:]
		if suffix == "" {
			suffix = "MWST"
		}
		return "ch_vat", fmt.Sprintf("CHE-%s.%s.%s %s", digits[:3], digits[3:6], digits[6:], suffix)
	}
	return "", ""
}

// untaxedReasons are Stripe's reasons for which nothing is collected; with every other one a rate is, be it zero.
var untaxedReasons = map[stripe.TaxCalculationLineItemTaxBreakdownTaxabilityReason]tax.Treatment{
	stripe.TaxCalculationLineItemTaxBreakdownTaxabilityReasonReverseCharge:        tax.ReverseCharge,
	stripe.TaxCalculationLineItemTaxBreakdownTaxabilityReasonNotCollecting:        tax.NotCollected,
	stripe.TaxCalculationLineItemTaxBreakdownTaxabilityReasonNotSupported:         tax.NotCollected,
	stripe.TaxCalculationLineItemTaxBreakdownTaxabilityReasonNotSubjectToTax:      tax.NotCollected,
	stripe.TaxCalculationLineItemTaxBreakdownTaxabilityReasonCustomerExempt:       tax.NotCollected,
	stripe.TaxCalculationLineItemTaxBreakdownTaxabilityReasonProductExempt:        tax.NotCollected,
	stripe.TaxCalculationLineItemTaxBreakdownTaxabilityReasonProductExemptHoliday: tax.NotCollected,
	stripe.TaxCalculationLineItemTaxBreakdownTaxabilityReasonPortionProductExempt: tax.NotCollected,
}

// taxResult takes over Stripe's amounts. The rates are for people to read: those of all jurisdictions of a line, added
// up.
func taxResult(s tax.Sale, made *stripe.TaxCalculation) (tax.Result, error) {
	currency := s.Lines[0].Amount.Currency
	amount := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: currency} }
	result := tax.Result{Treatment: tax.NotCollected, Behavior: s.Behavior, Country: s.BuyerCountry}
	shares, asked, net, due := map[tax.BasisPoints]tax.Share{}, int64(0), int64(0), int64(0)
	if made.LineItems == nil {
		return tax.Result{}, errors.New("stripe calculate tax: no lines")
	}
	for _, line := range made.LineItems.Data {
		rate, err := lineRate(line, &result.Treatment)
		if err != nil {
			return tax.Result{}, err
		}
		base := line.Amount
		if s.Behavior == tax.Inclusive {
			base -= line.AmountTax
		}
		share := shares[rate]
		shares[rate] = tax.Share{Rate: rate, Net: amount(share.Net.Minor + base),
			Tax: amount(share.Tax.Minor + line.AmountTax)}
		asked, net, due = asked+line.Amount, net+base, due+line.AmountTax
	}
	for _, rate := range slices.Sorted(maps.Keys(shares)) {
		result.Shares = append(result.Shares, shares[rate])
	}
	result.Net, result.Tax, result.Total = amount(net), amount(due), amount(made.AmountTotal)
	if result.Treatment == tax.ReverseCharge {
		result.TaxID = tax.NormalizeVATID(s.BuyerTaxID)
	}
	var sum int64
	for _, line := range s.Lines {
		sum += line.Amount.Minor
	}
	if asked != sum || made.TaxAmountExclusive+made.TaxAmountInclusive != due || made.AmountTotal != net+due ||
		money.Currency(made.Currency) != currency {
		return tax.Result{}, fmt.Errorf("stripe calculate tax: calculation %s does not add up to a sale of %d %s", made.ID,
			sum, currency)
	}
	return result, nil
}

// lineRate is the rate of a line, half up to a basis point, and takes the line's treatment over: whatever is taxed
// decides that of the sale, then a reverse charge.
func lineRate(line *stripe.TaxCalculationLineItem, treatment *tax.Treatment) (tax.BasisPoints, error) {
	percent := new(big.Rat)
	for _, part := range line.TaxBreakdown {
		if why, ok := untaxedReasons[part.TaxabilityReason]; ok && part.Amount == 0 {
			if why == tax.ReverseCharge && *treatment == tax.NotCollected {
				*treatment = why
			}
			continue
		}
		*treatment = tax.Taxed
		if part.TaxRateDetails == nil {
			continue
		}
		one, ok := new(big.Rat).SetString(part.TaxRateDetails.PercentageDecimal)
		if !ok || one.Sign() < 0 {
			return 0, errors.New("stripe calculate tax: a rate that is no number")
		}
		percent.Add(percent, one)
	}
	if line.AmountTax != 0 {
		*treatment = tax.Taxed
	}
	points := percent.Mul(percent, big.NewRat(100, 1)).Add(percent, big.NewRat(1, 2))
	return tax.BasisPoints(new(big.Int).Quo(points.Num(), points.Denom()).Int64()), nil
}
