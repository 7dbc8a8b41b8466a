-- +goose Up

-- What a subscription counts for among the account's figures, and how that changed. rolled is the number of the last
-- movement that mrr_days counts; -1 = not even that there is a subscription. Only the sweep writes it.
ALTER TABLE subscriptions ADD COLUMN counted TEXT NOT NULL DEFAULT '';         -- JSON; '' = written before this was counted
ALTER TABLE subscriptions ADD COLUMN movements TEXT NOT NULL DEFAULT '[]';     -- JSON
ALTER TABLE subscriptions ADD COLUMN last_movement BIGINT NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN rolled BIGINT NOT NULL DEFAULT -1;

-- The movements of each day of a creator (core/subscription.Movement): their sums and counts.
CREATE TABLE mrr_days (
    creator_id TEXT   NOT NULL,
    day        BIGINT NOT NULL, -- since 1970-01-01, UTC
    currency   TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    minor      BIGINT NOT NULL,
    count      BIGINT NOT NULL,
    PRIMARY KEY (creator_id, day, currency, kind)
);

-- +goose Down
DROP TABLE mrr_days;
ALTER TABLE subscriptions DROP COLUMN rolled;
ALTER TABLE subscriptions DROP COLUMN last_movement;
ALTER TABLE subscriptions DROP COLUMN movements;
ALTER TABLE subscriptions DROP COLUMN counted;
