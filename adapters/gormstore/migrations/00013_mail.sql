-- +goose Up

-- Messages to be sent: written in the transaction of their cause, sent by the task mail.send.
CREATE TABLE mails (
    id             TEXT   PRIMARY KEY,
    creator_id     TEXT   NOT NULL,
    kind           TEXT   NOT NULL,
    cause          TEXT   NOT NULL,
    recipient      TEXT   NOT NULL,
    recipient_name TEXT   NOT NULL,
    data           TEXT   NOT NULL,          -- the content, frozen
    created_at     BIGINT NOT NULL,          -- real time, as the next three
    leaves_at      BIGINT,                   -- the earliest time to send it, by the limit per recipient
    sent_at        BIGINT,
    refused_at     BIGINT,
    refusal        TEXT   NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX mails_creator_id_kind_cause ON mails (creator_id, kind, cause);
-- The latest mails to a recipient, for the limit.
CREATE INDEX mails_creator_id_recipient_leaves_at ON mails (creator_id, LOWER(recipient), leaves_at);

-- +goose Down
DROP TABLE mails;
