-- +goose Up

-- Attempts that are not settled are few, and read by the index that keeps them to one for a subject.
DROP INDEX payments_unsettled;
-- An attempt at checkout has no customer until it is settled.
DROP INDEX payments_customer;
CREATE INDEX payments_customer ON payments (customer_id, id) WHERE customer_id <> '';
-- Nothing reads sales in this order.
DROP INDEX sales_creator_id;

-- +goose Down

CREATE INDEX sales_creator_id ON sales (creator_id, id);
DROP INDEX payments_customer;
CREATE INDEX payments_customer ON payments (customer_id, id);
CREATE INDEX payments_unsettled ON payments (creator_id, id) WHERE settled_at IS NULL;
