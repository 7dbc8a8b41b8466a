-- +goose Up

-- The people of an account beside its owner, who is the creator. A member without joined_at is invited.
CREATE TABLE members (
    id            TEXT   PRIMARY KEY,
    creator_id    TEXT   NOT NULL REFERENCES creators (id),
    email         TEXT   NOT NULL,
    name          TEXT   NOT NULL,
    role          TEXT   NOT NULL,
    password_hash TEXT   NOT NULL,
    expires_at    BIGINT NOT NULL,
    joined_at     BIGINT,
    created_at    BIGINT NOT NULL,
    revision      BIGINT NOT NULL
);
CREATE UNIQUE INDEX members_creator_id_email ON members (creator_id, email);
CREATE INDEX members_creator_id ON members (creator_id, id);
CREATE UNIQUE INDEX members_email ON members (email) WHERE joined_at IS NOT NULL;

-- Whose sign-in it is; '' for the owner's.
ALTER TABLE web_sessions ADD COLUMN member_id TEXT NOT NULL DEFAULT '';
ALTER TABLE refresh_families ADD COLUMN member_id TEXT NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE refresh_families DROP COLUMN member_id;
ALTER TABLE web_sessions DROP COLUMN member_id;
DROP TABLE members;
