// Package document numbers the documents that an account's customers get.
package document

import (
	"fmt"
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

// Number is the n-th number of an account's series: 0K2M4P-R-000001. Beyond a million it grows longer.
func Number(creatorID string, s Series, n int64) string {
	prefix := strings.ToUpper(creatorID[max(0, len(creatorID)-prefixLength):])
	return fmt.Sprintf("%s-%s-%06d", prefix, s, n)
}
