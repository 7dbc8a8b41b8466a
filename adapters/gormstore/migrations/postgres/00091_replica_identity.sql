-- +goose Up
-- A logical replica finds a changed row by its key. These tables have none: reports are many, and attempts only added.
ALTER TABLE delivery_attempts REPLICA IDENTITY FULL;
-- +goose StatementBegin
DO $$
DECLARE reports regclass;
BEGIN
    FOR reports IN SELECT relid FROM pg_partition_tree('usage_events') LOOP
        EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', reports);
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE delivery_attempts REPLICA IDENTITY DEFAULT;
-- +goose StatementBegin
DO $$
DECLARE reports regclass;
BEGIN
    FOR reports IN SELECT relid FROM pg_partition_tree('usage_events') LOOP
        EXECUTE format('ALTER TABLE %s REPLICA IDENTITY DEFAULT', reports);
    END LOOP;
END $$;
-- +goose StatementEnd
