package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// filledRows is the number of sales in the database before the benchmarks.
var filledRows int

// saleTables hold the rows of one sale that is paid, and subscriptionTables those of a subscription's first one.
var (
	saleTables = []string{
		"sessions", "payments", "customers", "sales", "documents", "sandbox_charges", "ledger_postings", "grants",
		"access_versions", "access_snapshots", "events", "tasks",
	}
	subscriptionTables = append(slices.Clone(saleTables), "payment_methods", "subscriptions")
)

// fillTables copies one sale, with all that belongs to it, and one delivery n times, in SQL.
func (w *fixture) fillTables(n int) error {
	if n == 0 {
		return nil
	}
	m, err := w.modelSale(seller{key: w.key, catalogKey: "field-guide"}, "bench-fill", saleTables)
	if err != nil {
		return err
	}
	if err := w.copySale(m, n); err != nil {
		return err
	}
	if err := w.sumPostings(); err != nil {
		return err
	}
	for _, statement := range []string{
		fmt.Sprintf(`INSERT INTO deliveries (id, creator_id, event_id, event_type, endpoint_id, status, attempt_count, created_at, revision)
			SELECT 'del_filled_' || n, 'crt_filled', 'evt_filled_' || n, 'payment.completed', 'whe_filled', 'delivered', 1, n, 1 FROM generate_series(1, %d) AS n`, n),
		"VACUUM ANALYZE",
	} {
		if _, err := w.pool.Exec(w.ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// model is the sale that is copied.
type model struct {
	receipt
	tables                          []string
	creatorID, customer, checkoutID string
	events                          int
	// recent begins the time in its ids and in those of the copies: retention deletes what is old by its id.
	recent string
	// own finds in a value what names the sale or a part of it: the customer, the receipt's number, and the time in each
	// of its ids, which is later than in all others.
	own *regexp.Regexp
}

// modelSale sells something and waits until all that follows is done.
func (w *fixture) modelSale(s seller, customer string, tables []string) (m model, err error) {
	checkoutID, err := w.open(s, customer)
	if err != nil {
		return m, err
	}
	paid, err := w.pay(s, checkoutID, customer+"@example.com")
	if err != nil {
		return m, err
	}
	m = model{receipt: paid, tables: tables, customer: customer, checkoutID: checkoutID}
	for waiting := 1; waiting > 0; time.Sleep(50 * time.Millisecond) {
		err := w.pool.QueryRow(w.ctx, `SELECT s.creator_id, (SELECT COUNT(*) FROM events e WHERE e.creator_id = s.creator_id AND e.external_customer_id = $2),
			(SELECT COUNT(*) FROM tasks t WHERE t.creator_id = s.creator_id AND t.due_at < s.expires_at) FROM sessions s WHERE s.id = $1`,
			m.checkoutID, customer).Scan(&m.creatorID, &m.events, &waiting)
		if err != nil {
			return m, err
		}
	}
	m.recent = modelID.FindStringSubmatch(m.checkoutID)[1][:4]
	times, err := w.timesSince(m)
	m.own = regexp.MustCompile(strings.Join(append(times, regexp.QuoteMeta(customer), regexp.QuoteMeta(m.ReceiptNumber)),
		"|"))
	return m, err
}

// copySale writes n copies: with the ids, and with what has to be unique, made new. They satisfy every invariant that
// is verified.
func (w *fixture) copySale(m model, n int) error {
	for _, table := range m.tables {
		if err := w.copyRows(m, table, n); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	_, err := w.pool.Exec(w.ctx, fmt.Sprintf(`UPDATE document_numbers SET last = last + %d WHERE creator_id = '%[3]s';
		UPDATE event_positions SET last = last + %[2]d WHERE creator_id = '%[3]s'`, n, n*m.events, m.creatorID))
	return err
}

// modelID is an id: its kind, its time and its random part.
var modelID = regexp.MustCompile(`[a-z]+[_:](01[0-9a-z]{8})[0-9a-z]{16}`)

// timesSince are the times of the sale's ids, with what precedes them.
func (w *fixture) timesSince(m model) (times []string, err error) {
	began := modelID.FindStringSubmatch(m.checkoutID)[1]
	for _, table := range m.tables {
		rows, err := w.modelRows(w.ctx, m, table)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			for _, value := range row {
				for _, id := range modelID.FindAllStringSubmatch(text(value), -1) {
					if id[1] >= began && !slices.Contains(times, id[1]) {
						times = append(times, id[1])
					}
				}
			}
		}
	}
	return times, nil
}

// modelRows are the sale's rows of a table, by column.
func (w *fixture) modelRows(ctx context.Context, m model, table string) ([]map[string]any, error) {
	rows, err := w.pool.Query(ctx, fmt.Sprintf(`SELECT to_jsonb(t) FROM %s t WHERE creator_id = $1 AND (strpos(to_jsonb(t)::text, $2) > 0
		OR strpos(to_jsonb(t)::text, $3) > 0 OR strpos(to_jsonb(t)::text, '"' || $4 || '"') > 0 OR $5 <> '' AND strpos(to_jsonb(t)::text, $5) > 0)`, table),
		m.creatorID, m.checkoutID, m.PaymentID, m.customer, m.SubscriptionID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []map[string]any
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return nil, err
		}
		var row map[string]any
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
		decoder.UseNumber() // milliseconds since 1970 are no floats
		if err := decoder.Decode(&row); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// text is a value of a row as PostgreSQL writes it; bytes are taken for text.
func text(value any) string {
	written := fmt.Sprint(value)
	if bytes, ok := strings.CutPrefix(written, `\x`); ok {
		if raw, err := hex.DecodeString(bytes); err == nil {
			return string(raw)
		}
	}
	return written
}

// copyRows copies the sale's rows of a table n times.
func (w *fixture) copyRows(m model, table string, n int) error {
	rows, err := w.modelRows(w.ctx, m, table)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return errors.New("the sale has no row")
	}
	for _, row := range rows {
		var columns, values []string
		for column, value := range row {
			switch {
			case value == nil:
				continue
			case column == "etag":
				values = append(values, fmt.Sprintf(`'"' || translate(encode(substr(sha256(%s), 1, 18), 'base64'), '+/', '-_') || '"'`, m.copied("body", row["body"])))
			default:
				values = append(values, m.copied(column, value))
			}
			columns = append(columns, column)
		}
		insert := fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM "+
			"(SELECT n, '%s' || lpad(to_hex(n), 6, '0') AS t FROM generate_series(1, %d) AS n) AS copies",
			table, strings.Join(columns, ", "), strings.Join(values, ", "), m.recent, n)
		// Without the trigger that sums up each posting when it is committed: verify sums them up.
		if _, err := w.pool.Exec(w.ctx, "BEGIN; SET LOCAL session_replication_role = replica; "+insert+"; COMMIT"); err != nil {
			return err
		}
	}
	return nil
}

// copied is the SQL of a value in the n-th copy.
func (m model) copied(column string, value any) string {
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	if column == "position" { // of an event: those of the copies follow
		return fmt.Sprintf("%v + n * %d", value, m.events)
	}
	if _, ok := value.(string); !ok {
		return fmt.Sprint(value)
	}
	written, at := text(value), 0
	var parts []string
	for _, found := range m.own.FindAllStringIndex(written, -1) {
		parts = append(parts, quoted(written[at:found[0]]))
		switch what := written[found[0]:found[1]]; what {
		case m.customer:
			parts = append(parts, "'filled-' || n")
		case m.ReceiptNumber:
			series, last := what[:len(what)-6], what[len(what)-6:]
			number := "(" + strings.TrimLeft(last, "0") + " + n)::text" // of six digits or more
			parts = append(parts, quoted(series), fmt.Sprintf("lpad(%[1]s, greatest(6, length(%[1]s)), '0')", number))
		default:
			parts = append(parts, "t")
		}
		at = found[1]
	}
	sql := strings.Join(append(parts, quoted(written[at:])), " || ")
	if strings.HasPrefix(fmt.Sprint(value), `\x`) {
		return "convert_to(" + sql + ", 'UTF8')"
	}
	return sql
}
