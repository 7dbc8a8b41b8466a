-- +goose Up

-- Files of a dispute are for the buyer's bank: they belong to no listing. The dispute lists its own (JSON).
ALTER TABLE files ADD COLUMN dispute_id TEXT NOT NULL DEFAULT '';
ALTER TABLE disputes ADD COLUMN files TEXT NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE disputes DROP COLUMN files;
ALTER TABLE files DROP COLUMN dispute_id;
