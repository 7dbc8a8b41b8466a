-- +goose Up

-- Documents that are written once and read whole are text: nothing queries inside them here, and text keeps their bytes.
CREATE TABLE sessions (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    listing_id           TEXT   NOT NULL,
    offer                TEXT   NOT NULL,    -- what is bought, frozen when the session was made
    catalog              TEXT   NOT NULL,    -- how the integrator named it; null by listing id
    payment_link_id      TEXT   NOT NULL,
    opened_by            TEXT   NOT NULL,    -- keyed hash of the visitor's network; '' for one made with a key
    external_customer_id TEXT   NOT NULL,
    email                TEXT   NOT NULL,
    buyer                TEXT   NOT NULL,
    ui_mode              TEXT   NOT NULL,
    success_url          TEXT   NOT NULL,
    cancel_url           TEXT   NOT NULL,
    reference_id         TEXT   NOT NULL,
    metadata             TEXT   NOT NULL,
    utm                  TEXT   NOT NULL,
    slots                TEXT   NOT NULL DEFAULT '[]', -- the times chosen, in the buyer's order
    session_count        BIGINT NOT NULL DEFAULT 0, -- how many appointments are sold; 0 for what is not booked
    status               TEXT   NOT NULL,
    currency             TEXT   NOT NULL,
    subtotal             BIGINT NOT NULL,
    discount             BIGINT NOT NULL,
    tax                  BIGINT NOT NULL,
    total                BIGINT NOT NULL,
    discount_terms       TEXT   NOT NULL,    -- what the discount code takes off; null without one
    tax_details          TEXT   NOT NULL,    -- JSON: why the tax is what it is
    attempts             BIGINT NOT NULL,
    live_payment_id      TEXT   NOT NULL,    -- '' when no attempt is unsettled
    last_error           TEXT   NOT NULL,
    payment_id           TEXT   NOT NULL,    -- '' until paid, as are the next three
    customer_id          TEXT   NOT NULL,
    subscription_id      TEXT   NOT NULL,
    receipt_number       TEXT   NOT NULL,
    paid_at              BIGINT,
    expires_at           BIGINT NOT NULL,
    created_at           BIGINT NOT NULL,
    revision             BIGINT NOT NULL
);
CREATE INDEX sessions_creator_id ON sessions (creator_id, id);
-- Most sessions have no reference and were opened with a key: such a row costs these indexes nothing. A search says that the
-- value is not empty.
CREATE INDEX sessions_opened_by ON sessions (creator_id, opened_by, id) WHERE opened_by <> '';
CREATE INDEX sessions_external_customer_id ON sessions (creator_id, external_customer_id, id);
CREATE INDEX sessions_reference_id ON sessions (creator_id, reference_id, id) WHERE reference_id <> '';

-- +goose Down
DROP TABLE sessions;
