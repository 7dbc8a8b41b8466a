-- +goose Up

-- What buyers download. The bytes are in the file storage, in parts whose numbers are in file_parts.
CREATE TABLE files (
    id             TEXT    PRIMARY KEY,
    creator_id     TEXT    NOT NULL,
    listing_id     TEXT    NOT NULL,
    name           TEXT    NOT NULL,
    content_type   TEXT    NOT NULL,
    size           BIGINT  NOT NULL,
    version        BIGINT  NOT NULL,
    download_limit BIGINT  NOT NULL,
    status         TEXT    NOT NULL,
    created_at     BIGINT  NOT NULL,
    revision       BIGINT  NOT NULL
);
CREATE INDEX files_listing_id ON files (creator_id, listing_id, id);
CREATE INDEX files_uploading ON files (created_at, id) WHERE status = 'uploading';

CREATE TABLE file_parts (
    file_id TEXT   NOT NULL,
    number  BIGINT NOT NULL,
    PRIMARY KEY (file_id, number)
);

CREATE TABLE file_downloads (
    creator_id    TEXT   NOT NULL,
    file_id       TEXT   NOT NULL,
    checkout_id   TEXT   NOT NULL,
    downloads     BIGINT NOT NULL,
    downloaded_at BIGINT NOT NULL,
    PRIMARY KEY (file_id, checkout_id)
);

ALTER TABLE listings ADD COLUMN has_files BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose Down

ALTER TABLE listings DROP COLUMN has_files;
DROP TABLE file_downloads;
DROP TABLE file_parts;
DROP TABLE files;
