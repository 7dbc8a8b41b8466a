package gormstore

import (
	"context"
	"fmt"
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

// encryptedColumn is a column of which no value is stored in the clear. Its rows are found by at most three keys.
type encryptedColumn struct {
	purpose, table, column string
	keys                   [3]string
}

// encryptedColumns are all of them.
var encryptedColumns = []encryptedColumn{
	{"webhook-secrets", "webhook_endpoints", "secret", [3]string{"id", "''", "''"}},
	{"webhook-secrets", "webhook_endpoints", "previous_secret", [3]string{"id", "''", "''"}},
	{"second-steps", "second_steps", "app_secret", [3]string{"id", "''", "''"}},
	{"second-steps", "second_steps", "new_app_secret", [3]string{"id", "''", "''"}},
	{"meeting-accounts", "meeting_accounts", "token", [3]string{"creator_id", "provider", "''"}},
	{"kept-responses", "idempotency_keys", "body", [3]string{"creator_id", "route", "key"}},
}

// reencryptBatch is the number of rows that one transaction renews.
const reencryptBatch = 200

type encryptedRow struct {
	K1, K2, K3 string
	Value      []byte
}

// Reencrypt implements ports.KeyStore.
func (s *Store) Reencrypt(ctx context.Context, renew func(purpose string, encrypted []byte) ([]byte, error)) (
	changed int, err error) {
	for _, c := range encryptedColumns {
		last, more := encryptedRow{}, true
		for more {
			stored := 0
			err := s.Atomically(ctx, func(ctx context.Context, _ ports.Repos) (err error) {
				after := last // the transaction may run again
				stored, more, err = s.reencryptBatch(ctx, c, &after, renew)
				if err == nil {
					last = after
				}
				return err
			})
			if err != nil {
				return changed, fmt.Errorf("encrypt %s.%s again: %w", c.table, c.column, err)
			}
			changed += stored
		}
	}
	return changed, nil
}

// reencryptBatch renews the values behind the row after, which it moves to the last one.
func (s *Store) reencryptBatch(ctx context.Context, c encryptedColumn, after *encryptedRow,
	renew func(purpose string, encrypted []byte) ([]byte, error)) (stored int, more bool, err error) {
	names := c.names()
	at := make([]any, len(names))
	for i, value := range []string{after.K1, after.K2, after.K3}[:len(names)] {
		at[i] = value
	}
	position := "(" + strings.Join(names, ", ") + ")"
	marks := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ") + ")"
	var rows []encryptedRow
	query := "SELECT " + c.keys[0] + " AS k1, " + c.keys[1] + " AS k2, " + c.keys[2] + " AS k3, " + c.column +
		" AS value FROM " + c.table + " WHERE " + position + " > " + marks + " ORDER BY " + strings.Join(names, ", ") +
		" LIMIT " + fmt.Sprint(reencryptBatch)
	if err := s.reader(ctx).Raw(query, at...).Scan(&rows).Error; err != nil {
		return 0, false, err
	}
	for _, row := range rows {
		*after = row
		if len(row.Value) == 0 {
			continue
		}
		renewed, err := renew(c.purpose, row.Value)
		if err != nil {
			return 0, false, err
		}
		if renewed == nil {
			continue
		}
		args := []any{renewed}
		for _, value := range []string{row.K1, row.K2, row.K3}[:len(names)] {
			args = append(args, value)
		}
		// A value that another transaction changed meanwhile is left as it is: that one chose a key for it.
		res := s.reader(ctx).Exec("UPDATE "+c.table+" SET "+c.column+" = ? WHERE "+position+" = "+marks+" AND "+c.column+
			" = ?", append(args, row.Value)...)
		if res.Error != nil {
			return 0, false, res.Error
		}
		stored++
	}
	return stored, len(rows) == reencryptBatch, nil
}

// names are the columns that a row is found by.
func (c encryptedColumn) names() []string {
	var all []string
	for _, name := range c.keys {
		if name != "''" {
			all = append(all, name)
		}
	}
	return all
}

// RecordedSecretCheck returns the check value of the secret that the database belongs to.
func (s *Store) RecordedSecretCheck(ctx context.Context) (check string, err error) {
	err = repo.ScanRow(s.reader(ctx).Raw("SELECT value FROM deployment WHERE name = 'secret_check'"), &check)
	if err != nil {
		err = fmt.Errorf("read the secret's check value: %w", err)
	}
	return check, err
}
