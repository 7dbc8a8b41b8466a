-- +goose Up

ALTER TABLE listings ADD COLUMN trial_once BOOLEAN NOT NULL DEFAULT TRUE;   -- a customer has one trial of it
ALTER TABLE listings ADD COLUMN one_running BOOLEAN NOT NULL DEFAULT TRUE;  -- and one running subscription
ALTER TABLE sessions ADD COLUMN trial_dropped BOOLEAN NOT NULL DEFAULT FALSE; -- the buyer has had the trial of the offer

-- What a buyer has had: by the integrator's name, or by e-mail address.
CREATE INDEX subscriptions_external_customer_id ON subscriptions (creator_id, external_customer_id, id);
CREATE INDEX customers_email_folded ON customers (creator_id, LOWER(email));

-- +goose Down
DROP INDEX customers_email_folded;
DROP INDEX subscriptions_external_customer_id;
ALTER TABLE sessions DROP COLUMN trial_dropped;
ALTER TABLE listings DROP COLUMN one_running;
ALTER TABLE listings DROP COLUMN trial_once;
