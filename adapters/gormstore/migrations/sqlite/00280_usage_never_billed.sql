-- +goose Up
SELECT 1; -- the primary key finds the periods of a stream

-- +goose Down
SELECT 1;
