package gormstore

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestAShardsIndexIsKnownByItsName(t *testing.T) {
	t.Parallel()
	for reported, want := range map[string]string{
		"invoices_creator_id_key": "invoices_creator_id_key", "invoices_creator_id_key_102345": "invoices_creator_id_key",
		"events_2026": "events_2026",
	} {
		message := `duplicate key value violates unique constraint "` + reported + `"`
		for _, err := range []*pgconn.PgError{
			{Code: "23505", Message: message, ConstraintName: reported}, {Code: "23505", Message: message},
		} {
			if got := (postgresDialect{}).UniqueIndex(err); got != want {
				t.Errorf("%+v is taken for %s, want %s", err, got, want)
			}
		}
	}
}

func TestTheOperatorDecidesHowPlansAreMade(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]string{
		"postgres://db/sundry":                             {"force_generic_plan", "off"},
		"postgres://db/sundry?plan_cache_mode=auto&jit=on": {"auto", "on"},
	} {
		cfg, err := pgx.ParseConfig(address)
		if err != nil {
			t.Fatal(err)
		}
		configure(cfg, defaultSchema, false)
		if got := [2]string{cfg.RuntimeParams["plan_cache_mode"], cfg.RuntimeParams["jit"]}; got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
