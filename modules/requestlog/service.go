// Package requestlog keeps the latest API requests of accounts, so that the requestId of an error leads to its request.
// Requests don't wait for it: they are gathered in memory and written together. Under pressure some are left out.
package requestlog

import (
	"context"
	"sync"
	"sync/atomic"

	"sundry/core/requestlog"
	"sundry/ports"
)

const (
	// Keep is the number of requests kept per account, exceeded by at most trimEvery per process.
	Keep      = 10_000
	trimEvery = 1_000
	// maxWaiting bounds the records buffered between two writes, and maxOfAccount the part of one account. Successes
	// get half of both, because refusals are looked up more often.
	maxWaiting   = 1_000
	maxOfAccount = 250
)

// Service is the log.
type Service struct {
	store   ports.RequestLog
	dropped atomic.Int64

	mu      sync.Mutex
	waiting []requestlog.Record
	counts  map[string]int // of waiting, by account

	writing sync.Mutex
	// untrimmed counts the records written per account since it was trimmed.
	untrimmed map[string]int
}

// New returns a log that writes nothing until Flush is called.
func New(store ports.RequestLog) *Service {
	return &Service{store: store, counts: map[string]int{}, untrimmed: map[string]int{}}
}

// Record takes a request for the next write. It never waits; a request that does not fit is left out.
func (s *Service) Record(r requestlog.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total, own := maxWaiting, maxOfAccount
	if !r.Failed() {
		total, own = total/2, own/2
	}
	if len(s.waiting) >= total || s.counts[r.CreatorID] >= own {
		s.dropped.Add(1)
		return
	}
	s.waiting = append(s.waiting, r)
	s.counts[r.CreatorID]++
}

// Dropped counts the requests that were left out or could not be written since the start.
func (s *Service) Dropped() int64 { return s.dropped.Load() }

// Flush writes the buffered records. A failed write is dropped: the log must not add to the load of an overloaded
// database.
func (s *Service) Flush(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	batch := s.take()
	if len(batch) == 0 {
		return nil
	}
	if err := s.store.InsertRequests(ctx, batch); err != nil {
		s.dropped.Add(int64(len(batch)))
		return err
	}
	for _, r := range batch {
		s.untrimmed[r.CreatorID]++
	}
	for creatorID, n := range s.untrimmed {
		if n < trimEvery {
			continue
		}
		if err := s.store.TrimRequests(ctx, creatorID, Keep); err != nil {
			return err
		}
		delete(s.untrimmed, creatorID)
	}
	return nil
}

func (s *Service) take() []requestlog.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := s.waiting
	s.waiting = nil
	clear(s.counts)
	return batch
}

// List returns the account's requests, newest first, with those that this process has not written yet.
func (s *Service) List(
	ctx context.Context, creatorID string, search ports.RequestSearch, page ports.Page,
) (ports.List[requestlog.Record], error) {
	_ = s.Flush(ctx) // counted as dropped; the list of what is there is worth more than an error
	return s.store.ListRequests(ctx, creatorID, search, page)
}
