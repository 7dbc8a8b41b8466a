-- +goose Up

-- The accounts of creators at providers of meetings.
CREATE TABLE meeting_accounts (
    creator_id   TEXT   NOT NULL,
    provider     TEXT   NOT NULL,
    name         TEXT   NOT NULL,
    token        BYTEA  NOT NULL, -- encrypted
    connected_at BIGINT NOT NULL,
    failed_at    BIGINT,          -- when the provider refused the token; NULL while it takes it
    revision     BIGINT NOT NULL,
    PRIMARY KEY (creator_id, provider)
);

-- The meetings that are made there, by the room to which the link of an appointment leads.
CREATE TABLE hosted_meetings (
    id             TEXT   PRIMARY KEY, -- the room
    creator_id     TEXT   NOT NULL,
    provider       TEXT   NOT NULL,
    appointment_id TEXT   NOT NULL, -- '' where several buyers share the time
    group_id       TEXT   NOT NULL, -- '' where they do not
    provider_id    TEXT   NOT NULL, -- '' while the provider has no such meeting
    url            TEXT   NOT NULL,
    title          TEXT   NOT NULL,
    starts_at      BIGINT,          -- as the provider has it
    ends_at        BIGINT,
    created_at     BIGINT NOT NULL,
    revision       BIGINT NOT NULL
);
CREATE INDEX hosted_meetings_unmade ON hosted_meetings (creator_id, provider, created_at) WHERE provider_id = '';

-- +goose Down
DROP TABLE hosted_meetings;
DROP TABLE meeting_accounts;
