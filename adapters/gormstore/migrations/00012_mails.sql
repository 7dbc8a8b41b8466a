-- +goose Up

-- Messages that are owed: written in the transaction of their cause, sent by the task mail.send.
CREATE TABLE mails (
    id             TEXT   PRIMARY KEY,
    creator_id     TEXT   NOT NULL,
    kind           TEXT   NOT NULL,
    cause          TEXT   NOT NULL,
    recipient      TEXT   NOT NULL,
    recipient_name TEXT   NOT NULL,
    data           JSONB  NOT NULL,          -- what to say, frozen
    created_at     BIGINT NOT NULL,          -- real time, as the next two
    sent_at        BIGINT,
    refused_at     BIGINT,
    refusal        TEXT   NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX mails_creator_id_kind_cause ON mails (creator_id, kind, cause);

-- An account's failed tasks are listed. Tasks that fare well never enter it.
CREATE INDEX tasks_creator_failed ON tasks (creator_id, due_at, id) WHERE last_error <> '';

-- +goose Down
DROP INDEX tasks_creator_failed;
DROP TABLE mails;
