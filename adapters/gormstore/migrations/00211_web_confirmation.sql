-- +goose Up

-- When the user last proved who they are in this browser, after the sign-in.
ALTER TABLE web_sessions ADD COLUMN confirmed_at BIGINT;

-- +goose Down

ALTER TABLE web_sessions DROP COLUMN confirmed_at;
