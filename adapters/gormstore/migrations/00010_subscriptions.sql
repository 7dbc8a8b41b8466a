-- +goose Up

CREATE TABLE subscriptions (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    customer_id          TEXT   NOT NULL REFERENCES customers (id),
    external_customer_id TEXT   NOT NULL,
    checkout_id          TEXT   NOT NULL,
    offer                TEXT   NOT NULL,
    status               TEXT   NOT NULL,
    payment_method_id    TEXT   NOT NULL,    -- '' for a price of nothing
    anchor               BIGINT NOT NULL,
    current_period_start BIGINT NOT NULL,
    current_period_end   BIGINT NOT NULL,
    trial_ends_at        BIGINT,
    started_at           BIGINT NOT NULL,
    cancel_at_period_end BOOLEAN NOT NULL,
    canceled_at          BIGINT,
    paused_at            BIGINT,
    ended_at             BIGINT,
    planned              TEXT   NOT NULL,    -- JSON: the offer of the next period; null = the same
    discount             TEXT   NOT NULL,    -- JSON; null = none
    credit               BIGINT NOT NULL,
    period_value         BIGINT NOT NULL,
    dunning              TEXT   NOT NULL,    -- JSON
    charge               TEXT   NOT NULL,    -- JSON: the charge whose outcome is awaited; null = none
    revision             BIGINT NOT NULL
);
CREATE UNIQUE INDEX subscriptions_checkout_id ON subscriptions (checkout_id);
CREATE INDEX subscriptions_creator_id ON subscriptions (creator_id, id);
CREATE INDEX subscriptions_customer_id ON subscriptions (customer_id, id);

-- Binding prices of previewed changes of plan.
CREATE TABLE subscription_quotes (
    id              TEXT   PRIMARY KEY,
    creator_id      TEXT   NOT NULL,
    subscription_id TEXT   NOT NULL REFERENCES subscriptions (id),
    quote           TEXT   NOT NULL,         -- JSON
    expires_at      BIGINT NOT NULL,
    used_at         BIGINT
);
CREATE INDEX subscription_quotes_subscription ON subscription_quotes (subscription_id);

-- Which payment bought which time.
CREATE TABLE subscription_periods (
    payment_id      TEXT   PRIMARY KEY,
    creator_id      TEXT   NOT NULL,
    subscription_id TEXT   NOT NULL REFERENCES subscriptions (id),
    kind            TEXT   NOT NULL,         -- renewal, plan_change, resumption
    period_start    BIGINT NOT NULL,
    period_end      BIGINT NOT NULL,
    due             BIGINT NOT NULL DEFAULT 0, -- what the payment took before tax
    value           BIGINT NOT NULL DEFAULT 0 -- what it pays of the value of its period: refunds are taken off that; 0 = not known
);
-- No period is renewed twice.
CREATE UNIQUE INDEX subscription_periods_subscription_id_period_start ON subscription_periods (subscription_id, period_start) WHERE kind <> 'plan_change';

-- +goose Down
DROP TABLE subscription_periods;
DROP TABLE subscription_quotes;
DROP TABLE subscriptions;
