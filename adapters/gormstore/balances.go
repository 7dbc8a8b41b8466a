package gormstore

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/adapters/gormstore/treasury"
	"sundry/core/id"
	"sundry/ports"
)

// balancesPage limits the postings of a creator that one transaction of SumBalances or SumDays adds up.
const balancesPage = 1_000

// SumBalances adds postings up in the stored balances, so that reading a balance costs what was posted lately and not
// what was ever posted: fewer than a page of postings, and those of the last hour (commitSlack), in which an earlier
// one may still be committed. Processes may call it at the same time; one that is interrupted goes on where it was.
// now is real time.
func (s *Store) SumBalances(ctx context.Context, now time.Time) error {
	return s.sumPostings(ctx, now, balancesPage, treasury.SumBalances)
}

// SumDays adds postings up in the stored figures of days, as SumBalances does in the stored balances.
func (s *Store) SumDays(ctx context.Context, now time.Time) error {
	return s.sumPostings(ctx, now, balancesPage, treasury.SumDays)
}

// addPostings adds the next postings of a creator to stored sums.
type addPostings func(b *repo.Base, creatorID, before string, page int) (more bool, err error)

func (s *Store) sumPostings(ctx context.Context, now time.Time, page int, add addPostings) error {
	before := id.First(id.LedgerEntry, now.Add(-commitSlack))
	for creatorID := ""; ; {
		var err error
		creatorID, err = treasury.NextCreator(s.base(ctx), creatorID)
		if err != nil || creatorID == "" {
			return err
		}
		for more := true; more; {
			err := s.Atomically(ctx, func(ctx context.Context, _ ports.Repos) (err error) {
				more, err = add(s.base(ctx), creatorID, before, page)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
}
