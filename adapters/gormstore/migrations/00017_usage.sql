-- +goose Up
CREATE TABLE usage_meters (
    id          TEXT   PRIMARY KEY,
    creator_id  TEXT   NOT NULL,
    name        TEXT   NOT NULL,
    event_name  TEXT   NOT NULL,
    aggregation TEXT   NOT NULL,
    created_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX usage_meters_creator_id_event_name ON usage_meters (creator_id, event_name);
CREATE INDEX usage_meters_creator_id ON usage_meters (creator_id, id);

CREATE TABLE usage_products (
    id         TEXT   PRIMARY KEY,
    creator_id TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    type       TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX usage_products_creator_id ON usage_products (creator_id, id);

CREATE TABLE usage_prices (
    id               TEXT   PRIMARY KEY,
    creator_id       TEXT   NOT NULL,
    product_id       TEXT   NOT NULL REFERENCES usage_products (id),
    billing_scheme   TEXT   NOT NULL,
    currency         TEXT   NOT NULL,
    tiers            TEXT   NOT NULL,     -- JSON
    billing_interval TEXT   NOT NULL,
    created_at       BIGINT NOT NULL
);
CREATE INDEX usage_prices_creator_id ON usage_prices (creator_id, id);

CREATE TABLE usage_billing_plans (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    customer_id          TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    subscription_id      TEXT   NOT NULL,
    meter_id             TEXT   NOT NULL REFERENCES usage_meters (id),
    price_id             TEXT   NOT NULL REFERENCES usage_prices (id),
    billing_interval     TEXT   NOT NULL,
    anchor               BIGINT NOT NULL,
    starts_at            BIGINT NOT NULL,
    ends_at              BIGINT,          -- NULL while the subscription runs
    free_until           BIGINT,          -- NULL without a trial
    current_start        BIGINT NOT NULL,
    current_end          BIGINT NOT NULL,
    status               TEXT   NOT NULL,
    created_at           BIGINT NOT NULL,
    revision             BIGINT NOT NULL
);
CREATE UNIQUE INDEX usage_billing_plans_creator_id_subscription_id_meter_id ON usage_billing_plans (creator_id, subscription_id, meter_id);
CREATE INDEX usage_billing_plans_creator_id ON usage_billing_plans (creator_id, id);

-- Where the reports of a subscription's meter are counted.
CREATE TABLE usage_streams (
    id                   BIGINT  PRIMARY KEY,
    creator_id           TEXT    NOT NULL,
    customer_id          TEXT    NOT NULL,
    external_customer_id TEXT    NOT NULL,
    subscription_id      TEXT    NOT NULL,
    meter_id             TEXT    NOT NULL,
    event_name           TEXT    NOT NULL,
    aggregation          TEXT    NOT NULL,
    billing_interval     TEXT    NOT NULL,
    interval_count       BIGINT  NOT NULL,
    anchor               BIGINT  NOT NULL,
    starts_at            BIGINT  NOT NULL,
    ends_at              BIGINT,
    included             BIGINT  NOT NULL,
    plan_id              TEXT    NOT NULL, -- '' while nothing bills it
    closed               BOOLEAN NOT NULL,
    version              BIGINT  NOT NULL
);
CREATE UNIQUE INDEX usage_streams_creator_id_subscription_id_event_name ON usage_streams (creator_id, subscription_id, event_name);
CREATE INDEX usage_streams_customer ON usage_streams (creator_id, external_customer_id);

-- How far reports are counted, in the order of their commits. It has one row.
CREATE TABLE usage_watermark (
    id         BIGINT PRIMARY KEY,
    position   BIGINT NOT NULL,          -- everything before it is in the rollups
    step       BIGINT NOT NULL,
    checked    BIGINT NOT NULL           -- and everything before this has been counted a second time
);
INSERT INTO usage_watermark (id, position, step, checked) VALUES (1, 0, 0, 0);

CREATE TABLE usage_alerts (
    id              TEXT   PRIMARY KEY,
    creator_id      TEXT   NOT NULL,
    subscription_id TEXT   NOT NULL,
    meter_id        TEXT   NOT NULL,
    percent         BIGINT NOT NULL,     -- 0: the threshold is absolute
    threshold       TEXT   NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX usage_alerts_creator_id ON usage_alerts (creator_id, id);
CREATE INDEX usage_alerts_stream ON usage_alerts (creator_id, subscription_id, meter_id);

CREATE TABLE usage_alerts_reached (
    creator_id   TEXT   NOT NULL,
    alert_id     TEXT   NOT NULL,
    period_start BIGINT NOT NULL,
    PRIMARY KEY (alert_id, period_start)
);

-- +goose Down
DROP TABLE usage_alerts_reached;
DROP TABLE usage_alerts;
DROP TABLE usage_watermark;
DROP TABLE usage_streams;
DROP TABLE usage_billing_plans;
DROP TABLE usage_prices;
DROP TABLE usage_products;
DROP TABLE usage_meters;
