-- +goose Up

-- The account is the creator: their id is the creator_id of every other table.
CREATE TABLE creators (
    id            TEXT   PRIMARY KEY,
    email         TEXT   NOT NULL,            -- normalised
    display_name  TEXT   NOT NULL,
    password_hash TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    revision      BIGINT NOT NULL
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

-- One row per sign-in: only its newest refresh token is in force.
CREATE TABLE refresh_families (
    id         TEXT   PRIMARY KEY,
    creator_id TEXT   NOT NULL REFERENCES creators (id),
    token_hash BYTEA  NOT NULL,               -- HMAC-SHA256 of the token in force
    generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    revision   BIGINT NOT NULL
);
CREATE INDEX refresh_families_creator_id ON refresh_families (creator_id);
CREATE INDEX refresh_families_expires_at ON refresh_families (expires_at);

-- +goose Down
DROP TABLE refresh_families;
DROP TABLE api_keys;
DROP TABLE creators;
