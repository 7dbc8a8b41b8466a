-- +goose Up

-- The keys of the deployment, encrypted under APP_SECRET. Times are real time.
CREATE TABLE deployment_keys (
    key_group   TEXT   NOT NULL,
    generation  BIGINT NOT NULL,
    wrapped     BYTEA  NOT NULL,
    created_at  BIGINT NOT NULL,
    active_from BIGINT NOT NULL, -- until then it makes nothing, so that every process knows it before it is used
    PRIMARY KEY (key_group, generation)
);

-- +goose Down
DROP TABLE deployment_keys;
