-- +goose Up
CREATE INDEX file_downloads_checkout_id ON file_downloads (checkout_id);

-- +goose Down
DROP INDEX file_downloads_checkout_id;
