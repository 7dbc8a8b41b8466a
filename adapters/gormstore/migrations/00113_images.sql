-- +goose Up

-- Pictures that creators uploaded, as they are served: a row never changes but for its release.
CREATE TABLE images (
    id           TEXT   PRIMARY KEY,
    creator_id   TEXT   NOT NULL,
    content_type TEXT   NOT NULL,
    width        BIGINT NOT NULL,
    height       BIGINT NOT NULL,
    body         BYTEA  NOT NULL,
    created_at   BIGINT NOT NULL,
    released_at  BIGINT                      -- since when nobody shows it; NULL while somebody does
);
CREATE INDEX images_creator_id ON images (creator_id);
CREATE INDEX images_released_at ON images (released_at);

ALTER TABLE listings ADD COLUMN images TEXT NOT NULL DEFAULT '[]'; -- JSON array

-- +goose Down
ALTER TABLE listings DROP COLUMN images;
DROP TABLE images;
