-- +goose Up
-- Times are real time.
ALTER TABLE creators ADD COLUMN suspended_at BIGINT; -- NULL: an operator has not suspended the account
ALTER TABLE creators ADD COLUMN suspension_reason TEXT NOT NULL DEFAULT '';

-- Limits that operators have set for accounts, in the place of the defaults.
CREATE TABLE account_limits (
    creator_id TEXT   NOT NULL,
    resource   TEXT   NOT NULL,
    value      BIGINT NOT NULL, -- 0: no limit
    PRIMARY KEY (creator_id, resource)
);

-- What operators did. Nothing in it is changed or deleted.
CREATE TABLE operator_actions (
    id         TEXT   PRIMARY KEY,
    operator   TEXT   NOT NULL, -- the name under which the command ran
    kind       TEXT   NOT NULL,
    creator_id TEXT   NOT NULL, -- '' for what is done to no account
    note       TEXT   NOT NULL,
    at         BIGINT NOT NULL
);
CREATE INDEX operator_actions_creator_id ON operator_actions (creator_id, id);

-- +goose Down
DROP TABLE operator_actions;
DROP TABLE account_limits;
ALTER TABLE creators DROP COLUMN suspension_reason;
ALTER TABLE creators DROP COLUMN suspended_at;
