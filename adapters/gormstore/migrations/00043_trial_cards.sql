-- +goose Up
-- What recognizes the card that a trial began with, among those of its listing: a keyed hash; '' outside live.
ALTER TABLE subscriptions ADD COLUMN trial_card TEXT NOT NULL DEFAULT '';
CREATE INDEX subscriptions_trial_card ON subscriptions (trial_card) WHERE trial_card <> '';

-- +goose Down
DROP INDEX subscriptions_trial_card;
ALTER TABLE subscriptions DROP COLUMN trial_card;
