-- What makes PostgreSQL fast and SQLite does not know. It runs after the migrations at every start, so it asks first,
-- and nothing depends on it: a database whose owner may not have the extension searches more slowly.
DO $$
BEGIN
    IF to_regclass('listings_search') IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(7319004113); -- one process at a time: both statements fail when run twice at once
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    EXECUTE format('CREATE INDEX IF NOT EXISTS listings_search ON listings USING gin (search %s.gin_trgm_ops) '
        'WHERE status = ''ACTIVE''', (SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'pg_trgm'));
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
    RAISE NOTICE 'the public list is searched without an index: %', SQLERRM;
END
$$
