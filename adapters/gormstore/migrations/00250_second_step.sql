-- +goose Up

-- What the owner of an account or a member shows beside the password. id is that of the creator or the member.
CREATE TABLE second_steps (
    id               TEXT   PRIMARY KEY,
    creator_id       TEXT   NOT NULL,
    app_secret       BYTEA,                  -- encrypted
    app_added_at     BIGINT,
    last_step        BIGINT NOT NULL,        -- the time step of the last code that was accepted
    new_app_secret   BYTEA,                  -- encrypted; of an app that has not shown a code yet
    new_app_at       BIGINT,
    recovery         TEXT   NOT NULL,        -- HMACs of the unused recovery codes
    recovery_made_at BIGINT,
    passkeys         TEXT   NOT NULL,
    revision         BIGINT NOT NULL
);
CREATE INDEX second_steps_creator_id ON second_steps (creator_id);

-- Whether nobody may use the account without one.
ALTER TABLE creators ADD COLUMN second_step_required BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose Down

ALTER TABLE creators DROP COLUMN second_step_required;
DROP TABLE second_steps;
