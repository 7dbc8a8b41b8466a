-- +goose Up
-- As what the objects of another billing service go on here: each is imported once.
CREATE TABLE imported_objects (
    creator_id TEXT   NOT NULL,
    source     TEXT   NOT NULL,    -- the payment provider
    source_id  TEXT   NOT NULL,
    object_id  TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (creator_id, source, source_id)
);

-- +goose Down
DROP TABLE imported_objects;
