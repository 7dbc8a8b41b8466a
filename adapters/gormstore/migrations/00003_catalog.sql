-- +goose Up

-- What creators sell. Status is a literal in every query of the public list, so that its partial indexes serve it.
CREATE TABLE listings (
    id          TEXT   PRIMARY KEY,
    creator_id  TEXT   NOT NULL,
    type        TEXT   NOT NULL,
    title       TEXT   NOT NULL,
    description TEXT   NOT NULL,
    search      TEXT   NOT NULL,             -- title and description in lower case: both engines search alike
    slug        TEXT   NOT NULL,
    catalog_key TEXT   NOT NULL,
    price_minor BIGINT NOT NULL,
    currency    TEXT   NOT NULL,
    price_id    TEXT   NOT NULL,
    tax_behavior TEXT  NOT NULL,             -- inclusive, exclusive
    status      TEXT   NOT NULL,
    metadata    TEXT   NOT NULL,             -- JSON object
    variants    TEXT   NOT NULL,             -- JSON array
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    revision    BIGINT NOT NULL,
    images      TEXT   NOT NULL DEFAULT '[]' -- JSON array
);
CREATE UNIQUE INDEX listings_slug ON listings (slug);
CREATE UNIQUE INDEX listings_creator_id_catalog_key ON listings (creator_id, catalog_key);
CREATE INDEX listings_mine ON listings (creator_id, id);
CREATE INDEX listings_newest ON listings (id) WHERE status = 'ACTIVE';
CREATE INDEX listings_cheapest ON listings (price_minor, id) WHERE status = 'ACTIVE';
-- What is rare in the public list is found by these.
CREATE INDEX listings_currency ON listings (currency, price_minor, id) WHERE status = 'ACTIVE';
CREATE INDEX listings_currency_newest ON listings (currency, id) WHERE status = 'ACTIVE';
CREATE INDEX listings_type ON listings (type, id) WHERE status = 'ACTIVE';

-- Prices are part of their plan; a sold price lives on in the offer that was frozen with the sale.
CREATE TABLE plans (
    id         TEXT    PRIMARY KEY,
    creator_id TEXT    NOT NULL,
    listing_id TEXT    NOT NULL REFERENCES listings (id),
    key        TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    is_default BOOLEAN NOT NULL,
    trial_days BIGINT  NOT NULL,
    prices     TEXT    NOT NULL,             -- JSON array
    terms      TEXT    NOT NULL,             -- JSON object
    retired    BOOLEAN NOT NULL,
    created_at BIGINT  NOT NULL,
    updated_at BIGINT  NOT NULL,
    revision   BIGINT  NOT NULL
);
CREATE UNIQUE INDEX plans_creator_id_listing_id_key ON plans (creator_id, listing_id, key);

CREATE TABLE payment_links (
    id          TEXT    PRIMARY KEY,
    creator_id  TEXT    NOT NULL,
    code        TEXT    NOT NULL,
    listing_id  TEXT    NOT NULL REFERENCES listings (id),
    variant_id  TEXT    NOT NULL,
    plan_key    TEXT    NOT NULL,
    interval    TEXT    NOT NULL,
    success_url TEXT    NOT NULL,
    active      BOOLEAN NOT NULL,
    created_at  BIGINT  NOT NULL,
    updated_at  BIGINT  NOT NULL,
    revision    BIGINT  NOT NULL
);
CREATE UNIQUE INDEX payment_links_code ON payment_links (code);
CREATE INDEX payment_links_mine ON payment_links (creator_id, id);

CREATE TABLE discounts (
    id                 TEXT   PRIMARY KEY,
    creator_id         TEXT   NOT NULL,
    code               TEXT   NOT NULL,
    code_key           TEXT   NOT NULL,      -- what codes are compared by
    percent_off        BIGINT NOT NULL,
    amount_off         BIGINT NOT NULL,
    currency           TEXT   NOT NULL,
    duration           TEXT   NOT NULL,
    duration_in_months BIGINT NOT NULL,
    max_redemptions    BIGINT NOT NULL,      -- 0 = no maximum
    redeemed           BIGINT NOT NULL,
    expires_at         BIGINT,
    listing_ids        TEXT   NOT NULL,      -- JSON array
    created_at         BIGINT NOT NULL,
    deleted_at         BIGINT,
    revision           BIGINT NOT NULL,
    CHECK (max_redemptions = 0 OR redeemed <= max_redemptions)
);
CREATE UNIQUE INDEX discounts_creator_id_code_key ON discounts (creator_id, code_key) WHERE deleted_at IS NULL;
CREATE INDEX discounts_mine ON discounts (creator_id, id) WHERE deleted_at IS NULL;

-- One per session that is paid with a discount or has a payment under way.
CREATE TABLE discount_redemptions (
    checkout_id TEXT   NOT NULL,
    creator_id  TEXT   NOT NULL,
    discount_id TEXT   NOT NULL REFERENCES discounts (id),
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (creator_id, checkout_id)
);
CREATE INDEX discount_redemptions_discount ON discount_redemptions (creator_id, discount_id);

-- +goose Down
DROP TABLE discount_redemptions;
DROP TABLE discounts;
DROP TABLE payment_links;
DROP TABLE plans;
DROP TABLE listings;
