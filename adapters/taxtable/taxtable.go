// Package taxtable holds the rates of value added tax that the seller of record collects, as a dated file beside the
// code: a new rate is a new row, and documents of the past keep their own.
package taxtable

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"time"

	"sundry/core/tax"
	"sundry/ports"
)

//go:embed rates.csv
var file []byte

// row is a rate from a day on.
type row struct {
	from time.Time
	rate tax.BasisPoints
}

// Table implements tax.Table and ports.TaxCalculator.
type Table struct {
	sellerCountry string
	rows          map[string][]row // by country, oldest first
}

var (
	_ tax.Table           = (*Table)(nil)
	_ ports.TaxCalculator = (*Table)(nil)
)

// New reads the table for a seller of record who sits in the given country (ISO 3166-1 alpha-2).
func New(sellerCountry string) (*Table, error) {
	rows, err := parse(file)
	if err != nil {
		return nil, fmt.Errorf("tax table: %w", err)
	}
	return &Table{sellerCountry: sellerCountry, rows: rows}, nil
}

func parse(raw []byte) (map[string][]row, error) {
	reader := csv.NewReader(bytes.NewReader(raw))
	reader.Comment = '#'
	records, err := reader.ReadAll()
	if err != nil {
		return nil, err
	}
	rows := map[string][]row{}
	for _, record := range records[1:] { // the first names the columns
		code := record[0]
		from, err := time.Parse(time.DateOnly, record[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", code, err)
		}
		rate, err := strconv.ParseInt(record[2], 10, 64)
		if err != nil || rate < 0 || rate > 10_000 {
			return nil, fmt.Errorf("%s from %s: %q is no rate in basis points", code, record[1], record[2])
		}
		before := rows[code]
		if len(before) > 0 && !before[len(before)-1].from.Before(from) {
			return nil, fmt.Errorf("%s: the rows are not in the order of their days", code)
		}
		rows[code] = append(before, row{from, tax.BasisPoints(rate)})
	}
	return rows, nil
}

// Rate implements tax.Table. The categories are taxed alike so far.
func (t *Table) Rate(country string, _ tax.Category, at time.Time) (tax.BasisPoints, bool) {
	for _, r := range slices.Backward(t.rows[country]) {
		if !at.Before(r.from) {
			return r.rate, true
		}
	}
	return 0, false
}

// Calculate implements ports.TaxCalculator.
func (t *Table) Calculate(_ context.Context, s tax.Sale) (tax.Result, error) {
	s.SellerCountry = t.sellerCountry
	return tax.Calculate(s, t)
}
