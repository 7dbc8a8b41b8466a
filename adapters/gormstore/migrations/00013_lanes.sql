-- +goose Up

-- Tasks of one lane share a limit, so that one receiver's backlog delays no other. '' = no lane.
ALTER TABLE tasks ADD COLUMN lane TEXT NOT NULL DEFAULT '';
UPDATE tasks SET lane = substr(subject, 1, 29) WHERE kind = 'webhook.deliver'; -- the endpoint's id, which comes first
DROP INDEX tasks_class_run_at;
CREATE INDEX tasks_class_lane_run_at ON tasks (class, lane, run_at, id);

-- Lanes that are left alone until then, and given one task at a time from then on until their row is gone.
CREATE TABLE lane_holds (
    lane       TEXT   PRIMARY KEY,
    held_until BIGINT NOT NULL               -- real time
);

-- How much of its rate each lane has used: real time, one step ahead for each task claimed. Only claims write here.
CREATE TABLE lane_rates (
    lane        TEXT   PRIMARY KEY,
    spent_until BIGINT NOT NULL
);

-- attempt_count is how many attempts were ever made; this is how many since the delivery was last made due afresh.
ALTER TABLE deliveries ADD COLUMN round_attempts BIGINT NOT NULL DEFAULT 0;
UPDATE deliveries SET round_attempts = attempt_count;
UPDATE deliveries SET attempt_count = (SELECT COUNT(*) FROM delivery_attempts a WHERE a.delivery_id = deliveries.id)
    WHERE attempt_count < (SELECT COUNT(*) FROM delivery_attempts a WHERE a.delivery_id = deliveries.id);

-- From when on (account time) every event that the endpoint's filters match must have a delivery to it.
ALTER TABLE webhook_endpoints ADD COLUMN subscribed_since BIGINT;

-- +goose Down
ALTER TABLE webhook_endpoints DROP COLUMN subscribed_since;
ALTER TABLE deliveries DROP COLUMN round_attempts;
DROP TABLE lane_rates;
DROP TABLE lane_holds;
DROP INDEX tasks_class_lane_run_at;
ALTER TABLE tasks DROP COLUMN lane;
CREATE INDEX tasks_class_run_at ON tasks (class, run_at);
