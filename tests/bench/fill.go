package main

import "fmt"

// filledRows is how many rows of each table below are there before the benches.
var filledRows int

// fillTables copies one sale and one delivery n times, in SQL: with the ids, and with what has to be unique, made new.
func (w *fixture) fillTables(n int) error {
	if n == 0 {
		return nil
	}
	if err := w.buy("bench-fill"); err != nil {
		return err
	}
	for _, table := range []struct{ name, changed string }{
		{"sessions", "'id', 'cs_filled_' || n"},
		{"customers", "'id', 'cus_filled_' || n, 'external_customer_id', 'filled-' || n"},
		{"payments", "'id', 'pay_filled_' || n, 'subject_id', 'cs_filled_' || n, 'receipt_number', ''"},
		{"events", "'id', 'evt_filled_' || n, 'external_customer_id', 'filled-' || n"},
	} {
		_, err := w.pool.Exec(w.ctx, fmt.Sprintf(`INSERT INTO %[1]s SELECT r.* FROM (SELECT to_jsonb(t) AS one FROM %[1]s t ORDER BY id DESC LIMIT 1) AS model,
			generate_series(1, $1::int) AS n, jsonb_populate_record(NULL::%[1]s, model.one || jsonb_build_object(%[2]s)) AS r`, table.name, table.changed), n)
		if err != nil {
			return fmt.Errorf("%s: %w", table.name, err)
		}
	}
	_, err := w.pool.Exec(w.ctx, `INSERT INTO deliveries (id, creator_id, event_id, event_type, endpoint_id, status, attempt_count, created_at, revision)
		SELECT 'del_filled_' || n, 'crt_filled', 'evt_filled_' || n, 'payment.completed', 'whe_filled', 'delivered', 1, n, 1 FROM generate_series(1, $1::int) AS n`, n)
	if err == nil {
		_, err = w.pool.Exec(w.ctx, "VACUUM ANALYZE")
	}
	return err
}
