-- +goose Up
-- Quantities are text: SQLite has no exact decimals. position is the order of inserts, which one writer makes that of commits.
CREATE TABLE usage_events (
    position     INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_id    BIGINT  NOT NULL,
    period_start BIGINT  NOT NULL,
    occurred_at  BIGINT  NOT NULL,
    received_at  BIGINT  NOT NULL,
    voided_at    BIGINT,
    ordered      BOOLEAN NOT NULL,
    quantity     TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    creator_id   TEXT    NOT NULL
);
CREATE INDEX usage_events_stream ON usage_events (stream_id, period_start);
CREATE INDEX usage_events_id ON usage_events (id);

CREATE TABLE usage_keys (
    stream_id    BIGINT NOT NULL,
    period_start BIGINT NOT NULL,
    received_at  BIGINT NOT NULL,
    position     BIGINT NOT NULL,        -- 0: the report's id finds it
    event_id     TEXT   NOT NULL,
    creator_id   TEXT   NOT NULL,
    key          TEXT   NOT NULL,
    fingerprint  BLOB   NOT NULL,
    PRIMARY KEY (creator_id, key)
);

CREATE TABLE usage_rollups (
    stream_id       BIGINT  NOT NULL,
    period_start    BIGINT  NOT NULL,
    creator_id      TEXT    NOT NULL,
    aggregation     TEXT    NOT NULL,
    quantity        TEXT    NOT NULL,
    last_at         BIGINT,
    last_id         TEXT    NOT NULL,
    reports         BIGINT  NOT NULL,
    step            BIGINT  NOT NULL,
    as_of           BIGINT,
    invoice_id      TEXT    NOT NULL,
    billed_quantity TEXT    NOT NULL,
    billed          BIGINT  NOT NULL,
    billed_at       BIGINT,
    checked_quantity TEXT NOT NULL DEFAULT '0', -- what the reports behind the watermark's mark of checked ones come to
    checked_reports BIGINT  NOT NULL DEFAULT 0,
    incomplete      BOOLEAN NOT NULL DEFAULT FALSE, -- some of its reports are deleted, as old ones are
    PRIMARY KEY (stream_id, period_start)
);
CREATE INDEX usage_rollups_step ON usage_rollups (step, stream_id);
-- Those with reports that are not checked yet; once all are, those that are wrong.
CREATE INDEX usage_rollups_unchecked ON usage_rollups (stream_id) WHERE reports <> checked_reports OR quantity <> checked_quantity;

-- +goose Down
DROP TABLE usage_rollups;
DROP TABLE usage_keys;
DROP TABLE usage_events;
