-- +goose Up

-- How often a creator has replaced the address of their calendar feed; no row, never.
CREATE TABLE calendar_feeds (
    creator_id TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL
);

-- The other calendars of a creator, as their settings list them, and what reading each last came to.
CREATE TABLE busy_calendars (
    creator_id TEXT   NOT NULL,
    url        TEXT   NOT NULL,
    position   BIGINT NOT NULL,
    read_at    BIGINT,                       -- when it was last read with success
    failed_at  BIGINT,                       -- when it last could not be read, after read_at or with none
    failure    TEXT   NOT NULL,              -- why
    PRIMARY KEY (creator_id, url)
);

-- When they are busy by each, merged: intervals of one calendar do not overlap.
CREATE TABLE busy_times (
    creator_id TEXT   NOT NULL,
    url        TEXT   NOT NULL,
    starts_at  BIGINT NOT NULL,
    ends_at    BIGINT NOT NULL,
    PRIMARY KEY (creator_id, url, starts_at)
);
CREATE INDEX busy_times_ends ON busy_times (creator_id, ends_at);

-- +goose Down
DROP TABLE busy_times;
DROP TABLE busy_calendars;
DROP TABLE calendar_feeds;
