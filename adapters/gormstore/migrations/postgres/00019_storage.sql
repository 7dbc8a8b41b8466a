-- +goose Up
-- Rows that are written again and again find room on their page, so that their indexes need not be written with them, and
-- what they leave behind is collected early: a queue that is empty most of the time must not grow.
ALTER TABLE tasks SET (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE deliveries SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE sessions SET (fillfactor = 80);
ALTER TABLE payments SET (fillfactor = 85);
ALTER TABLE access_snapshots SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE usage_rollups SET (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);
-- One row of each is written by every sale of an account.
ALTER TABLE document_numbers SET (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE event_positions SET (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0);

-- +goose Down
ALTER TABLE tasks RESET (fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay);
ALTER TABLE deliveries RESET (fillfactor, autovacuum_vacuum_scale_factor);
ALTER TABLE sessions RESET (fillfactor);
ALTER TABLE payments RESET (fillfactor);
ALTER TABLE access_snapshots RESET (fillfactor, autovacuum_vacuum_scale_factor);
ALTER TABLE usage_rollups RESET (fillfactor, autovacuum_vacuum_scale_factor);
ALTER TABLE document_numbers RESET (fillfactor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay);
ALTER TABLE event_positions RESET (fillfactor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay);
