-- +goose Up
-- A partition holds what was received in one month of real time, so that old ones can be dropped whole. position is the transaction
-- that wrote the report: whatever is below the oldest transaction under way is complete.
CREATE TABLE usage_events (
    stream_id    BIGINT  NOT NULL,
    period_start BIGINT  NOT NULL,
    occurred_at  BIGINT  NOT NULL,
    received_at  BIGINT  NOT NULL,
    position     BIGINT  NOT NULL,
    voided_at    BIGINT,
    ordered      BOOLEAN NOT NULL,       -- of a meter that takes the largest or the last report
    quantity     NUMERIC NOT NULL,
    id           TEXT    NOT NULL,
    creator_id   TEXT    NOT NULL
) PARTITION BY RANGE (received_at);
CREATE INDEX usage_events_position ON usage_events (position);
CREATE INDEX usage_events_ordered ON usage_events (stream_id, period_start) WHERE ordered;
-- It takes what no month was made for.
CREATE TABLE usage_events_other PARTITION OF usage_events DEFAULT;

-- The keys stay when the reports are dropped.
CREATE TABLE usage_keys (
    stream_id    BIGINT NOT NULL,
    period_start BIGINT NOT NULL,
    received_at  BIGINT NOT NULL,
    position     BIGINT NOT NULL,
    event_id     TEXT   NOT NULL,
    creator_id   TEXT   COLLATE "C" NOT NULL, -- compared byte by byte, with every report
    key          TEXT   COLLATE "C" NOT NULL,
    fingerprint  BYTEA  NOT NULL,
    PRIMARY KEY (creator_id, key)
);

CREATE TABLE usage_rollups (
    stream_id       BIGINT  NOT NULL,
    period_start    BIGINT  NOT NULL,
    creator_id      TEXT    NOT NULL,
    aggregation     TEXT    NOT NULL,
    quantity        NUMERIC NOT NULL,
    last_at         BIGINT,              -- of the report that LAST took, as is last_id
    last_id         TEXT    NOT NULL,
    reports         BIGINT  NOT NULL,
    step            BIGINT  NOT NULL,    -- the last step of counting that changed it
    as_of           BIGINT,
    invoice_id      TEXT    NOT NULL,    -- '' until its period is billed
    billed_quantity NUMERIC NOT NULL,
    billed          BIGINT  NOT NULL,
    billed_at       BIGINT,
    checked_quantity NUMERIC NOT NULL DEFAULT 0, -- what the reports behind the watermark's mark of checked ones come to
    checked_reports BIGINT  NOT NULL DEFAULT 0,
    incomplete      BOOLEAN NOT NULL DEFAULT FALSE, -- some of its reports are deleted, as old ones are
    PRIMARY KEY (stream_id, period_start)
);
CREATE INDEX usage_rollups_step ON usage_rollups (step, stream_id);
-- Those with reports that are not checked yet; once all are, those that are wrong.
CREATE INDEX usage_rollups_unchecked ON usage_rollups (stream_id) WHERE reports <> checked_reports OR quantity <> checked_quantity;
CREATE INDEX usage_rollups_unsettled ON usage_rollups (stream_id) WHERE invoice_id <> '' AND quantity <> billed_quantity;

-- +goose Down
DROP TABLE usage_rollups;
DROP TABLE usage_keys;
DROP TABLE usage_events;
