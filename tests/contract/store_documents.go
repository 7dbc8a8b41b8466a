package contract

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sundry/core/document"
	"sundry/core/id"
	"sundry/core/invoice"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/refund"
	"sundry/ports"
)

// nextNumber takes a receipt number in a transaction of its own.
func nextNumber(t *testing.T, store StoreAdapter, creatorID string) int64 {
	t.Helper()
	var n int64
	atomically(t, store, func(ctx context.Context, r ports.Repos) (err error) {
		n, err = r.Invoicing.DocumentNumbers.Next(ctx, creatorID, document.Receipts)
		return err
	})
	return n
}

func aDocumentNumberIsGivenOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	insert := func(all ...document.Snapshot) error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			for _, s := range all {
				if err := r.Invoicing.Documents.Insert(ctx, s); err != nil {
					return err
				}
			}
			return nil
		})
	}
	first := issued(document.Receipt, creator, "R-1", catalogTime)
	elsewhere := issued(document.Receipt, "crt_2", "R-2", catalogTime)
	taken := issued(document.Receipt, creator, "R-3", catalogTime)
	elsewhere.Number, taken.Number = first.Number, first.Number
	if err := insert(first, elsewhere); err != nil {
		t.Fatal(err)
	}
	wantIndex(t, insert(taken), "documents_creator_id_number")
}

func numbersHaveNoGap(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	const documents = 20
	numbers := make([]int64, documents)
	var wg sync.WaitGroup
	for i := range numbers {
		wg.Go(func() {
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) (err error) {
				numbers[i], err = r.Invoicing.DocumentNumbers.Next(ctx, creator, document.Receipts)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != int64(i+1) {
			t.Fatalf("numbers %v, want 1 to %d", numbers, documents)
		}
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for series, account := range map[document.Series]string{document.Invoices: creator, document.Receipts: "crt_other"} {
			if n, err := r.Invoicing.DocumentNumbers.Next(ctx, account, series); err != nil || n != 1 {
				t.Errorf("the first of %s of %s is %d, %v", series, account, n, err)
			}
		}
		return nil
	})
}

func aNumberThatIsNotCommittedIsUsedAgain(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	undo := errors.New("undo")
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		if n, err := r.Invoicing.DocumentNumbers.Next(ctx, creator, document.Receipts); err != nil || n != 1 {
			t.Errorf("the first number is %d, %v", n, err)
		}
		return undo
	})
	if !errors.Is(err, undo) || nextNumber(t, store, creator) != 1 {
		t.Errorf("after %v the next number is not 1", err)
	}
}

func accountsDoNotWaitForEachOthersNumber(t *testing.T, db Database) {
	if db.OneProcess {
		return // its one writer waits for every other
	}
	store := db.Open(t, StoreOptions{})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		if _, err := r.Invoicing.DocumentNumbers.Next(ctx, creator, document.Receipts); err != nil {
			return err
		}
		other, cancel := context.WithTimeout(t.Context(), 4*time.Second) // less than the lock's own time-out
		defer cancel()
		return store.Atomically(other, func(ctx context.Context, r ports.Repos) error {
			_, err := r.Invoicing.DocumentNumbers.Next(ctx, "crt_other", document.Receipts)
			return err
		})
	})
}

// quarter is the time that documents are listed of.
var quarter = [2]time.Time{time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}

// issued is a document of an account about a subject of its own.
func issued(kind document.Kind, creatorID, number string, at time.Time) document.Snapshot {
	nothing, subject := money.Amount{Currency: "eur"}, sha256.Sum256([]byte(number))
	return document.Snapshot{
		Kind: kind, SubjectID: id.New(id.Refund, [16]byte(subject[:16])), CreatorID: creatorID, Number: number,
		IssuedAt: at, Total: nothing, Tax: nothing,
	}
}

type documentList func(
	ctx context.Context, from, until time.Time, after document.Snapshot, limit int,
) ([]document.Snapshot, error)

// wantPages reads a list of the quarter in pages of two: each document once, whatever their order at one time.
func wantPages(t *testing.T, list documentList, want ...string) {
	t.Helper()
	var got []string
	for last := (document.Snapshot{}); ; {
		page, err := list(t.Context(), quarter[0], quarter[1], last, 2)
		if err != nil || len(page) > 2 {
			t.Fatalf("%d documents, %v", len(page), err)
		}
		for _, s := range page {
			if s.IssuedAt.Before(last.IssuedAt) {
				t.Errorf("%s is listed behind %s, which is newer", s.Number, last.Number)
			}
			got, last = append(got, s.CreatorID+" "+s.Number), s
		}
		if len(page) < 2 {
			break
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func issuedDocumentsAreReadPageByPage(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	justBefore, last := quarter[0].Add(-time.Millisecond), quarter[1].Add(-time.Millisecond)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for _, s := range []document.Snapshot{
			issued(document.Receipt, "crt_b", "B-R-1", quarter[0]), issued(document.Receipt, "crt_b", "B-R-2", last),
			issued(document.Invoice, "crt_b", "B-I-1", last),
			issued(document.Receipt, "crt_a", "A-R-1", justBefore), issued(document.Receipt, "crt_a", "A-R-2", last),
			issued(document.CreditNote, "crt_a", "A-C-1", last),
			issued(document.CreditNote, "crt_a", "A-C-2", quarter[1]),
			issued(document.PayoutStatement, "crt_a", "po_1", last),
		} {
			if err := r.Invoicing.Documents.Insert(ctx, s); err != nil {
				return err
			}
		}
		for number, paidAt := range map[string]time.Time{
			"B-I-2": quarter[0], "B-I-3": last, "B-I-4": {}, "B-I-5": justBefore, "B-I-6": quarter[1],
		} {
			s := issued(document.Invoice, "crt_b", number, justBefore)
			inv := invoice.State{
				ID: s.SubjectID, CreatorID: "crt_b", Number: number, Key: number, Currency: "eur", Status: invoice.Open,
				PaidAt: paidAt, CreatedAt: justBefore, FinalizedAt: justBefore, Revision: 1,
			}
			if !paidAt.IsZero() {
				inv.Status = invoice.Paid
			}
			if err := errors.Join(r.Invoicing.Documents.Insert(ctx, s), r.Invoicing.Invoices.Insert(ctx, inv)); err != nil {
				return err
			}
		}
		return nil
	})
	documents := store.Read(t.Context()).Invoicing.Documents
	wantPages(t, documents.ListIssued, "crt_a A-C-1", "crt_a A-R-2", "crt_b B-R-1", "crt_b B-R-2")
	wantPages(t, documents.ListPaidInvoices, "crt_b B-I-2", "crt_b B-I-3")
	wantPages(t, documents.ListVoided)
}

func voidCreditNotesAreThoseOfTheirTime(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	share := ledger.Share{Amount: money.Amount{Minor: 100, Currency: "eur"}, Tax: money.Amount{Currency: "eur"}}
	justBefore, last := quarter[0].Add(-time.Millisecond), quarter[1].Add(-time.Millisecond)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for i, f := range []refund.State{
			{Status: refund.Failed, SettledAt: quarter[0]}, {Status: refund.Failed, SettledAt: last},
			{Status: refund.Failed, SettledAt: last},
			{Status: refund.Succeeded, SettledAt: last}, {Status: refund.Failed, SettledAt: justBefore},
			{Status: refund.Failed, SettledAt: quarter[1]},
		} {
			note := issued(document.CreditNote, "crt_a", fmt.Sprintf("A-C-%d", i+1), justBefore)
			f.ID, f.CreatorID, f.CreditNoteNumber, f.Share, f.CreatedAt = note.SubjectID, note.CreatorID, note.Number, share,
				justBefore
			if err := errors.Join(
				r.Invoicing.Documents.Insert(ctx, note), r.Payments.Refunds.Insert(ctx, f),
			); err != nil {
				return err
			}
		}
		return r.Payments.Refunds.Insert(ctx, refund.State{ // it never succeeded
			ID: "ref_never", CreatorID: "crt_a", Status: refund.Failed, CreatedAt: justBefore, SettledAt: last,
			Return: ledger.Return{Share: share},
		})
	})
	wantPages(t, store.Read(t.Context()).Invoicing.Documents.ListVoided, "crt_a A-C-1", "crt_a A-C-2", "crt_a A-C-3")
}
