-- +goose Up
-- What a subscription's plan includes of a meter, in the periods that end after a time and before the next row's. Periods
-- that had their invoice when the table was made included nothing.
CREATE TABLE usage_included (
    creator_id TEXT   NOT NULL,
    stream_id  BIGINT NOT NULL,
    since      BIGINT NOT NULL,
    included   BIGINT NOT NULL,
    PRIMARY KEY (stream_id, since)
);
INSERT INTO usage_included (creator_id, stream_id, since, included)
SELECT s.creator_id, s.id, COALESCE(p.current_start, 0), s.included
FROM usage_streams s LEFT JOIN usage_billing_plans p ON p.id = s.plan_id WHERE s.included > 0;

-- +goose Down
DROP TABLE usage_included;
