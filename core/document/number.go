// Package document numbers the documents that an account's customers get.
package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Series is a kind of document with numbers of its own.
type Series string

// The series.
const (
	Receipts    Series = "R"
	Invoices    Series = "I"
	CreditNotes Series = "C"
)

// prefixLength is the number of characters of the account's id with which its numbers begin.
const prefixLength = 6

// Numbers returns the numbers of an account that a text may mean: 0K2M4P-R-000001 in any case, R-1, or 1 of each
// series. It is nil for what is no number.
func Numbers(creatorID, text string) []string {
	rest := strings.ToUpper(strings.TrimSpace(text))
	rest = strings.TrimPrefix(rest, strings.ToUpper(creatorID[max(0, len(creatorID)-prefixLength):])+"-")
	series := []Series{Receipts, Invoices, CreditNotes}
	if before, after, ok := strings.Cut(rest, "-"); ok {
		series, rest = []Series{Series(before)}, after
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err != nil || n < 1 || !slices.Contains([]Series{Receipts, Invoices, CreditNotes}, series[0]) {
		return nil
	}
	var numbers []string
	for _, s := range series {
		numbers = append(numbers, Number(creatorID, s, n))
	}
	return numbers
}

// Number returns the n-th number of an account's series: 0K2M4P-R-000001. Beyond a million it grows longer.
func Number(creatorID string, s Series, n int64) string {
	prefix := strings.ToUpper(creatorID[max(0, len(creatorID)-prefixLength):])
	return fmt.Sprintf("%s-%s-%06d", prefix, s, n)
}
