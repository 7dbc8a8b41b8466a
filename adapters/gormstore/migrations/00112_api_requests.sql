-- +goose Up

-- The latest API requests of accounts: what the requestId of an error leads to. Written beside the requests, in batches.
CREATE TABLE api_requests (
    id          TEXT   PRIMARY KEY,          -- begins with the time
    creator_id  TEXT   NOT NULL,
    method      TEXT   NOT NULL,
    path        TEXT   NOT NULL,             -- without its query
    status      BIGINT NOT NULL,
    code        TEXT   NOT NULL,             -- of the error, '' = none
    duration_us BIGINT NOT NULL,
    api_key     TEXT   NOT NULL,             -- its beginning and its last characters
    at          BIGINT NOT NULL
);
CREATE INDEX api_requests_creator_id ON api_requests (creator_id, id);

-- +goose Down
DROP TABLE api_requests;
