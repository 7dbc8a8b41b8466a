-- +goose Up

-- The account is the creator: their id is the creator_id of every other table.
CREATE TABLE creators (
    id            TEXT   PRIMARY KEY,
    email         TEXT   NOT NULL,            -- normalized
    display_name  TEXT   NOT NULL,
    password_hash TEXT   NOT NULL,
    logo_url      TEXT   NOT NULL DEFAULT '', -- '' in this and the next three: none
    accent_color  TEXT   NOT NULL DEFAULT '',
    support_email TEXT   NOT NULL DEFAULT '',
    refund_policy TEXT   NOT NULL DEFAULT '',
    created_at    BIGINT NOT NULL,
    revision      BIGINT NOT NULL,
    payout_schedule TEXT NOT NULL DEFAULT 'manual' -- daily, weekly, monthly: when the balance is paid out by itself
);
CREATE UNIQUE INDEX creators_email ON creators (email);

CREATE TABLE api_keys (
    id           TEXT   PRIMARY KEY,
    creator_id   TEXT   NOT NULL REFERENCES creators (id),
    name         TEXT   NOT NULL,
    hash         BYTEA  NOT NULL,             -- HMAC-SHA256 of the key
    prefix       TEXT   NOT NULL,
    last4        TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    last_used_at BIGINT,
    revision     BIGINT NOT NULL
);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_creator_id ON api_keys (creator_id, id);

-- One row per sign-in: only its newest refresh token is valid.
CREATE TABLE refresh_families (
    id         TEXT   PRIMARY KEY,
    creator_id TEXT   NOT NULL REFERENCES creators (id),
    rotated_at BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    revision   BIGINT NOT NULL
);
CREATE INDEX refresh_families_creator_id ON refresh_families (creator_id);
CREATE INDEX refresh_families_expires_at ON refresh_families (expires_at);

-- One row per browser that is signed in to the dashboard.
CREATE TABLE web_sessions (
    id           TEXT   PRIMARY KEY,
    creator_id   TEXT   NOT NULL REFERENCES creators (id),
    address      TEXT   NOT NULL,
    user_agent   TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    revoked_at   BIGINT,
    revision     BIGINT NOT NULL
);
CREATE INDEX web_sessions_creator_id ON web_sessions (creator_id, id);
CREATE INDEX web_sessions_expires_at ON web_sessions (expires_at);

-- The access log of accounts.
CREATE TABLE account_events (
    id         TEXT   PRIMARY KEY,
    creator_id TEXT   NOT NULL REFERENCES creators (id),
    kind       TEXT   NOT NULL,
    address    TEXT   NOT NULL,
    user_agent TEXT   NOT NULL,
    note       TEXT   NOT NULL,
    at         BIGINT NOT NULL
);
CREATE INDEX account_events_creator_id ON account_events (creator_id, id);
CREATE INDEX account_events_at ON account_events (at);

-- +goose Down
DROP TABLE account_events;
DROP TABLE web_sessions;
DROP TABLE refresh_families;
DROP TABLE api_keys;
DROP TABLE creators;
