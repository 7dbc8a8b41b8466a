package tax

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sundry/core/money"
)

// ErrNoLines reports that there is nothing to tax, not even an amount of zero in some currency.
var ErrNoLines = errors.New("tax: a sale without lines")

// Calculate taxes a sale. The lines of one rate are added up first and rounded half up once, so that the tax of a
// document does not depend on how it is split into lines.
func Calculate(s Sale, rates Table) (Result, error) {
	if len(s.Lines) == 0 {
		return Result{}, ErrNoLines
	}
	if s.Behavior == "" {
		s.Behavior = Inclusive
	}
	result := Result{Treatment: treatment(s, rates), Behavior: s.Behavior, Country: s.BuyerCountry}
	if result.Treatment == ReverseCharge {
		result.TaxID = NormalizeVATID(s.BuyerTaxID)
	}
	byRate, err := sumByRate(s, result.Treatment, rates)
	if err != nil {
		return Result{}, err
	}
	zero := money.Amount{Currency: s.Lines[0].Amount.Currency}
	result.Net, result.Tax = zero, zero
	for _, rate := range slices.SortedFunc(maps.Keys(byRate), cmp.Compare[BasisPoints]) {
		share, err := split(byRate[rate], rate, s.Behavior)
		if err != nil {
			return Result{}, err
		}
		result.Shares = append(result.Shares, share)
		if result.Net, err = result.Net.Add(share.Net); err != nil {
			return Result{}, fmt.Errorf("tax: %w", err)
		}
		if result.Tax, err = result.Tax.Add(share.Tax); err != nil {
			return Result{}, fmt.Errorf("tax: %w", err)
		}
	}
	result.Total, err = result.Net.Add(result.Tax)
	return result, err
}

// treatment decides how a sale is taxed.
func treatment(s Sale, rates Table) Treatment {
	switch {
	case s.BuyerCountry == "":
		return Undetermined
	case reverseCharged(s):
		return ReverseCharge
	}
	for _, line := range s.Lines {
		if _, ok := rates.Rate(s.BuyerCountry, line.Category, s.At); ok {
			return Taxed
		}
	}
	return NotCollected
}

// reverseCharged reports whether a business buys across a border inside the European Union (article 196).
func reverseCharged(s Sale) bool {
	return s.BuyerCountry != s.SellerCountry && InEU(s.BuyerCountry) && InEU(s.SellerCountry) &&
		CheckVATID(s.BuyerCountry, s.BuyerTaxID) == nil
}

// DependsOnVATID reports whether the buyer's VAT id decides that no tax is charged, as far as its shape shows: a
// register may know better.
func DependsOnVATID(sellerCountry, buyerCountry, id string) bool {
	return reverseCharged(Sale{SellerCountry: sellerCountry, BuyerCountry: buyerCountry, BuyerTaxID: id})
}

// sumByRate adds up the lines of each rate. Without a tax, all of them are one share at a rate of zero.
func sumByRate(s Sale, t Treatment, rates Table) (map[BasisPoints]money.Amount, error) {
	sums := map[BasisPoints]money.Amount{}
	for _, line := range s.Lines {
		var rate BasisPoints
		if t == Taxed {
			rate, _ = rates.Rate(s.BuyerCountry, line.Category, s.At)
		}
		sum, ok := sums[rate]
		if !ok {
			sum = money.Amount{Currency: s.Lines[0].Amount.Currency}
		}
		sum, err := sum.Add(line.Amount)
		if err != nil {
			return nil, fmt.Errorf("tax: %w", err)
		}
		sums[rate] = sum
	}
	return sums, nil
}

// split parts an amount into net and tax: contained in it, or added to it. What is added can be charged with it.
func split(amount money.Amount, rate BasisPoints, behavior Behavior) (Share, error) {
	share := Share{Rate: rate, Net: amount}
	denominator, ratio := int64(whole), amount.RatioPayable
	if behavior == Inclusive {
		denominator, ratio = denominator+int64(rate), amount.RatioHalfUp
	}
	var err error
	if share.Tax, err = ratio(int64(rate), denominator); err != nil {
		return Share{}, fmt.Errorf("tax: %w", err)
	}
	if behavior == Inclusive {
		share.Net.Minor -= share.Tax.Minor // a part of it
	}
	return share, nil
}

// Gross returns a price with the tax that is added to it at the rate of these details: the price itself where it
// contains its tax, and where more than one rate was due.
func (d Details) Gross(price money.Amount) (money.Amount, error) {
	if d.Behavior != Exclusive || len(d.Shares) != 1 {
		return price, nil
	}
	share, err := split(price, d.Shares[0].Rate, Exclusive)
	if err != nil {
		return price, err
	}
	return share.Net.Add(share.Tax)
}
