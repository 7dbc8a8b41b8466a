-- +goose Up

-- A customer's first grant and first snapshot are written in one transaction, in any order; `sundry verify` finds a
-- grant without a snapshot.
ALTER TABLE grants DROP CONSTRAINT grants_creator_id_external_customer_id_fkey;
