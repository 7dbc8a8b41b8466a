-- +goose Up

-- What integrators were told of a customer's access last is part of its snapshot.
ALTER TABLE access_snapshots ADD COLUMN announced_version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE access_snapshots ADD COLUMN announced_at BIGINT; -- NULL before the first
UPDATE access_snapshots SET
    announced_version = COALESCE((SELECT a.version FROM access_announcements a WHERE a.creator_id = access_snapshots.creator_id
        AND a.external_customer_id = access_snapshots.external_customer_id), 0),
    announced_at = (SELECT a.at FROM access_announcements a WHERE a.creator_id = access_snapshots.creator_id
        AND a.external_customer_id = access_snapshots.external_customer_id);
DROP TABLE access_announcements;

-- There is no way back.
