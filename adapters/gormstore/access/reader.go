package access

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/access"
	"sundry/ports"
)

// Reader implements ports.AccessReader.
type Reader struct {
	engine   repo.Engine
	versions *repo.Batcher[*versionQuestion]
}

var _ ports.AccessReader = (*Reader)(nil)

const (
	// maxQuestions bounds the questions of one query, and maxAsking those that may wait for the next one.
	maxQuestions  = 1_000
	maxAsking     = 100_000
	answerTimeout = 10 * time.Second
)

// NewReader returns the hot path of reading access.
func NewReader(engine repo.Engine) *Reader {
	r := &Reader{engine: engine}
	r.versions = repo.NewBatcher(repo.BatchConfig[*versionQuestion]{
		MaxBatch: maxQuestions, Timeout: answerTimeout, Capacity: maxAsking, Write: r.answer,
	})
	return r
}

// ReadSQL is one lookup by primary key; both engines prepare it once per connection.
const ReadSQL = "SELECT version, etag, body, next_end FROM access_snapshots WHERE creator_id = $1 AND " +
	"external_customer_id = $2"

// ReadAccess implements ports.AccessReader, without gorm, which would double what it costs.
func (r *Reader) ReadAccess(ctx context.Context, creatorID, externalCustomerID string) (access.Document, error) {
	d := access.Document{CreatorID: creatorID, ExternalCustomerID: externalCustomerID}
	var nextEnd *int64
	err := r.engine.Point(ctx, ReadSQL, creatorID, externalCustomerID).Scan(&d.Version, &d.ETag, &d.Body, &nextEnd)
	if err != nil {
		return access.Document{}, r.engine.Failure("read access", err)
	}
	if nextEnd != nil {
		d.NextEnd = time.UnixMilli(*nextEnd).UTC()
	}
	return d, nil
}

// versionQuestion asks whether a customer's version is above another.
type versionQuestion struct {
	creatorID, externalCustomerID string
	version                       int64
	above                         bool // the answer
}

// MarshalJSON implements json.Marshaler with what the queries read by position.
func (q *versionQuestion) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{q.creatorID, q.externalCustomerID, q.version})
}

// HasVersionAbove implements ports.AccessReader: those who ask while a query is under way share the next one.
func (r *Reader) HasVersionAbove(ctx context.Context, creatorID, externalCustomerID string, version int64) (bool,
	error) {
	q := &versionQuestion{creatorID: creatorID, externalCustomerID: externalCustomerID, version: version}
	if err := r.versions.Do(ctx, q); err != nil {
		return false, r.engine.Failure("compare versions of access", err)
	}
	return q.above, nil
}

// The queries return the positions, from 0, of the questions to which the answer is yes, as one JSON array. Each
// question is one lookup by primary key: a join may scan the table instead.
const (
	AboveOnPostgres = `SELECT COALESCE(json_agg(q.position - 1), '[]')::text
FROM json_array_elements($1::json) WITH ORDINALITY AS q (of, position)
WHERE (SELECT s.version FROM access_snapshots s
    WHERE s.creator_id = q.of->>0 AND s.external_customer_id = q.of->>1) > (q.of->>2)::bigint`
	aboveOnSQLite = `SELECT json_group_array(q.key) FROM json_each($1) q
WHERE (SELECT s.version FROM access_snapshots s
    WHERE s.creator_id = q.value->>0 AND s.external_customer_id = q.value->>1) > q.value->>2`
)

// answer answers questions by one query.
func (r *Reader) answer(ctx context.Context, questions []*versionQuestion) []error {
	results := make([]error, len(questions))
	above, err := r.above(ctx, questions)
	for i := range results {
		results[i] = err
	}
	for _, position := range above {
		questions[position].above = true
	}
	return results
}

func (r *Reader) above(ctx context.Context, questions []*versionQuestion) (positions []int, err error) {
	asked, err := json.Marshal(questions)
	if err != nil {
		return nil, err
	}
	query := AboveOnPostgres
	if r.engine.Pool == nil {
		query = aboveOnSQLite
	}
	var found string
	if err := r.engine.Point(ctx, query, string(asked)).Scan(&found); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(found), &positions); err != nil {
		return nil, fmt.Errorf("read positions: %w", err)
	}
	return positions, nil
}
