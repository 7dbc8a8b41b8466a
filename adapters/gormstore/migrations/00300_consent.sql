-- +goose Up

-- What a buyer agreed to at the payment button, in the words that they read (JSON; NULL where no buyer paid on a page),
-- and where they were.
ALTER TABLE sessions ADD COLUMN consent TEXT;
ALTER TABLE sessions ADD COLUMN consent_from TEXT;

-- The refund policies that creators had, by the SHA-256 of their texts, which consents name.
CREATE TABLE refund_policies (
    creator_id TEXT   NOT NULL,
    hash       TEXT   NOT NULL,
    policy     TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (creator_id, hash)
);

-- +goose Down
DROP TABLE refund_policies;
ALTER TABLE sessions DROP COLUMN consent_from;
ALTER TABLE sessions DROP COLUMN consent;
