-- +goose Up

-- The span that a task's run belongs to, as the header traceparent names it; NULL where nothing is traced.
ALTER TABLE tasks ADD COLUMN trace_parent TEXT;

-- +goose Down
ALTER TABLE tasks DROP COLUMN trace_parent;
