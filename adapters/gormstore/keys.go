package gormstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

var _ ports.KeyStore = (*Store)(nil)

type keyRow struct {
	KeyGroup   string
	Generation int64
	Wrapped    []byte
	CreatedAt  int64
	ActiveFrom int64
}

// ListKeys implements ports.KeyStore.
func (s *Store) ListKeys(ctx context.Context) ([]ports.StoredKey, error) {
	var rows []keyRow
	err := s.reader(ctx).Raw("SELECT key_group, generation, wrapped, created_at, active_from FROM deployment_keys " +
		"ORDER BY key_group, generation").Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	all := make([]ports.StoredKey, len(rows))
	for i, r := range rows {
		all[i] = ports.StoredKey{Group: r.KeyGroup, Generation: r.Generation, Wrapped: r.Wrapped,
			CreatedAt: time.UnixMilli(r.CreatedAt), ActiveFrom: time.UnixMilli(r.ActiveFrom)}
	}
	return all, nil
}

// InsertKeys implements ports.KeyStore.
func (s *Store) InsertKeys(ctx context.Context, keys []ports.StoredKey) error {
	return s.eachKey(ctx, "insert", keys, func(ctx context.Context, k ports.StoredKey) error {
		return s.reader(ctx).Exec(`INSERT INTO deployment_keys (key_group, generation, wrapped, created_at, active_from)
			VALUES (?, ?, ?, ?, ?) ON CONFLICT (key_group, generation) DO NOTHING`, k.Group, k.Generation, k.Wrapped,
			k.CreatedAt.UnixMilli(), k.ActiveFrom.UnixMilli()).Error
	})
}

// RewrapKeys implements ports.KeyStore.
func (s *Store) RewrapKeys(ctx context.Context, keys []ports.StoredKey, secretCheck string) error {
	return s.Atomically(ctx, func(ctx context.Context, _ ports.Repos) error {
		for _, k := range keys {
			if err := s.reader(ctx).Exec("UPDATE deployment_keys SET wrapped = ? WHERE key_group = ? AND generation = ?",
				k.Wrapped, k.Group, k.Generation).Error; err != nil {
				return fmt.Errorf("rewrap key %s %d: %w", k.Group, k.Generation, err)
			}
		}
		err := s.reader(ctx).Exec("UPDATE deployment SET value = ? WHERE name = 'secret_check'", secretCheck).Error
		if err != nil {
			return fmt.Errorf("record the secret: %w", err)
		}
		return nil
	})
}

// DeleteKeys implements ports.KeyStore.
func (s *Store) DeleteKeys(ctx context.Context, keys []ports.StoredKey) error {
	return s.eachKey(ctx, "delete", keys, func(ctx context.Context, k ports.StoredKey) error {
		return s.reader(ctx).Exec("DELETE FROM deployment_keys WHERE key_group = ? AND generation = ?",
			k.Group, k.Generation).Error
	})
}

func (s *Store) eachKey(ctx context.Context, op string, keys []ports.StoredKey,
	do func(context.Context, ports.StoredKey) error) error {
	return s.Atomically(ctx, func(ctx context.Context, _ ports.Repos) error {
		for _, k := range keys {
			if err := do(ctx, k); err != nil {
				return fmt.Errorf("%s key %s %d: %w", op, k.Group, k.Generation, err)
			}
		}
		return nil
	})
}

// encryptedColumn is a column of which no value is stored in the clear, in rows that are found by key.
type encryptedColumn struct {
	purpose, table, column string
	key                    []string
}

// encryptedColumns are all of them.
var encryptedColumns = []encryptedColumn{
	{"webhook-secrets", "webhook_endpoints", "secret", []string{"id"}},
	{"webhook-secrets", "webhook_endpoints", "previous_secret", []string{"id"}},
	{"second-steps", "second_steps", "app_secret", []string{"id"}},
	{"second-steps", "second_steps", "new_app_secret", []string{"id"}},
	{"meeting-accounts", "meeting_accounts", "token", []string{"creator_id", "provider"}},
	{"kept-responses", "idempotency_keys", "body", []string{"creator_id", "route", "key"}},
}

// reencryptBatch is the number of rows that one transaction renews.
const reencryptBatch = 200

type encryptedRow struct {
	key   []any // pointers to texts
	value []byte
}

// Reencrypt implements ports.KeyStore.
func (s *Store) Reencrypt(ctx context.Context, renew func(purpose string, encrypted []byte) ([]byte, error)) (
	changed int, err error) {
	for _, c := range encryptedColumns {
		last := slices.Repeat([]any{""}, len(c.key))
		for more := true; more; {
			var rows []encryptedRow
			var stored int
			err := s.Atomically(ctx, func(ctx context.Context, _ ports.Repos) (err error) {
				if rows, err = s.encryptedRows(ctx, c, last); err == nil {
					stored, err = s.reencryptRows(ctx, c, rows, renew)
				}
				return err
			})
			if err != nil {
				return changed, fmt.Errorf("encrypt %s.%s again: %w", c.table, c.column, err)
			}
			changed += stored
			if more = len(rows) == reencryptBatch; more {
				last = rows[len(rows)-1].key
			}
		}
	}
	return changed, nil
}

// encryptedRows reads the rows that follow a key.
func (s *Store) encryptedRows(ctx context.Context, c encryptedColumn, after []any) ([]encryptedRow, error) {
	key := strings.Join(c.key, ", ")
	query := "SELECT " + key + ", " + c.column + " FROM " + c.table + " WHERE " + c.compare(">") + " ORDER BY " + key +
		" LIMIT " + strconv.Itoa(reencryptBatch)
	return repo.QueryRows(s.base(ctx), "read encrypted values", query, after,
		func(row repo.Scanner) (r encryptedRow, err error) {
			for range c.key {
				r.key = append(r.key, new(string))
			}
			err = row.Scan(append(slices.Clip(r.key), &r.value)...)
			return r, err
		})
}

// reencryptRows renews the values of rows.
func (s *Store) reencryptRows(ctx context.Context, c encryptedColumn, rows []encryptedRow,
	renew func(purpose string, encrypted []byte) ([]byte, error)) (stored int, err error) {
	// A value that another transaction changed meanwhile is left as it is: that one chose a key for it.
	update := "UPDATE " + c.table + " SET " + c.column + " = ? WHERE " + c.compare("=") + " AND " + c.column + " = ?"
	for _, row := range rows {
		if len(row.value) == 0 {
			continue
		}
		renewed, err := renew(c.purpose, row.value)
		if err != nil {
			return 0, err
		}
		if renewed == nil {
			continue
		}
		args := slices.Concat([]any{renewed}, row.key, []any{row.value})
		if err := s.reader(ctx).Exec(update, args...).Error; err != nil {
			return 0, err
		}
		stored++
	}
	return stored, nil
}

// compare is the condition that compares a row's key with parameters.
func (c encryptedColumn) compare(operator string) string {
	return "(" + strings.Join(c.key, ", ") + ") " + operator + " (?" + strings.Repeat(", ?", len(c.key)-1) + ")"
}

// RecordedSecretCheck returns the check value of the secret that the database belongs to.
func (s *Store) RecordedSecretCheck(ctx context.Context) (check string, err error) {
	err = repo.ScanRow(s.reader(ctx).Raw("SELECT value FROM deployment WHERE name = 'secret_check'"), &check)
	if err != nil {
		err = fmt.Errorf("read the secret's check value: %w", err)
	}
	return check, err
}
