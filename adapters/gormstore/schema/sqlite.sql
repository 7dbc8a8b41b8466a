-- of the migrations 1aed7b329e5604b6f26c280e5866a0567908d5f14a8a8b6c48a2803aad567ac0
CREATE TABLE migration_checksums (version BIGINT PRIMARY KEY, checksum TEXT NOT NULL);
CREATE TABLE migration_phases (version BIGINT PRIMARY KEY, phase TEXT NOT NULL);
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE deployment (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE tasks (
    id              TEXT   PRIMARY KEY,          -- kind:subject
    kind            TEXT   NOT NULL,
    subject         TEXT   NOT NULL,
    class           TEXT   NOT NULL,             -- which workers run it
    creator_id      TEXT   NOT NULL DEFAULT '',  -- whose clock due_at is on; '' = the platform's
    due_at          BIGINT NOT NULL,             -- account time
    run_at          BIGINT NOT NULL,             -- the same instant in real time, or when to try again after a failure: what the relay scans
    lease_until     BIGINT NOT NULL DEFAULT 0,   -- real time
    token           BIGINT NOT NULL DEFAULT 1,
    attempts        BIGINT NOT NULL DEFAULT 0,
    last_error      TEXT   NOT NULL DEFAULT '',
    concurrency_key TEXT   NOT NULL DEFAULT '' -- tasks of one key share limits; '' = none
, trace_parent TEXT);
CREATE TABLE concurrency_pauses (
    concurrency_key TEXT   PRIMARY KEY,
    paused_until    BIGINT NOT NULL,          -- real time
    creator_id      TEXT   NOT NULL DEFAULT '',
    due_until       BIGINT NOT NULL DEFAULT 0 -- the same on the account's clock, which the sandbox puts forward
);
CREATE TABLE concurrency_limits (
    concurrency_key TEXT   PRIMARY KEY,
    max_running     BIGINT NOT NULL,         -- tasks leased at a time
    step_ms         BIGINT NOT NULL          -- time that a claimed task uses up of the rate; 0 = no rate
, spent_until BIGINT NOT NULL DEFAULT 0);
CREATE TABLE concurrency_rates (
    concurrency_key TEXT   PRIMARY KEY,
    spent_until     BIGINT NOT NULL
);
CREATE TABLE idempotency_keys (
    creator_id  TEXT   NOT NULL,
    route       TEXT   NOT NULL,
    key         TEXT   NOT NULL,
    body_hash   BYTEA  NOT NULL,
    status      BIGINT NOT NULL,             -- 0 = under way
    body        BYTEA  NOT NULL,
    lease_until BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (creator_id, route, key)
);
CREATE TABLE api_requests (
    id          TEXT   PRIMARY KEY,          -- begins with the time
    creator_id  TEXT   NOT NULL,
    method      TEXT   NOT NULL,
    path        TEXT   NOT NULL,             -- without its query
    status      BIGINT NOT NULL,
    code        TEXT   NOT NULL,             -- of the error, '' = none
    duration_us BIGINT NOT NULL,
    api_key     TEXT   NOT NULL,             -- its beginning and its last characters
    at          BIGINT NOT NULL
);
CREATE TABLE images (
    id           TEXT   PRIMARY KEY,
    creator_id   TEXT   NOT NULL,
    content_type TEXT   NOT NULL,
    width        BIGINT NOT NULL,
    height       BIGINT NOT NULL,
    body         BYTEA  NOT NULL,
    created_at   BIGINT NOT NULL,
    released_at  BIGINT                      -- since when nobody shows it; NULL while somebody does
);
CREATE TABLE creators (
    id            TEXT   PRIMARY KEY,
    email         TEXT   NOT NULL,            -- normalized
    display_name  TEXT   NOT NULL,
    password_hash TEXT   NOT NULL,
    logo_url      TEXT   NOT NULL DEFAULT '', -- '' in this and the next three: none
    accent_color  TEXT   NOT NULL DEFAULT '',
    support_email TEXT   NOT NULL DEFAULT '',
    refund_policy TEXT   NOT NULL DEFAULT '',
    created_at    BIGINT NOT NULL,
    revision      BIGINT NOT NULL,
    payout_schedule TEXT NOT NULL DEFAULT 'manual' -- daily, weekly, monthly: when the balance is paid out by itself
, notify_orders BOOLEAN NOT NULL DEFAULT TRUE, notify_payouts BOOLEAN NOT NULL DEFAULT TRUE, suspended_at BIGINT, suspension_reason TEXT NOT NULL DEFAULT '', email_unconfirmed BOOLEAN NOT NULL DEFAULT FALSE, second_step_required BOOLEAN NOT NULL DEFAULT FALSE, embed_origins TEXT NOT NULL DEFAULT '');
CREATE TABLE api_keys (
    id           TEXT   PRIMARY KEY,
    creator_id   TEXT   NOT NULL REFERENCES creators (id),
    name         TEXT   NOT NULL,
    hash         BYTEA  NOT NULL,             -- HMAC-SHA256 of the key
    prefix       TEXT   NOT NULL,
    last4        TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    last_used_at BIGINT,
    revision     BIGINT NOT NULL
, scopes TEXT NOT NULL DEFAULT '');
CREATE TABLE refresh_families (
    id         TEXT   PRIMARY KEY,
    creator_id TEXT   NOT NULL REFERENCES creators (id),
    rotated_at BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    revision   BIGINT NOT NULL
, member_id TEXT NOT NULL DEFAULT '');
CREATE TABLE web_sessions (
    id           TEXT   PRIMARY KEY,
    creator_id   TEXT   NOT NULL REFERENCES creators (id),
    address      TEXT   NOT NULL,
    user_agent   TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    revoked_at   BIGINT,
    revision     BIGINT NOT NULL
, member_id TEXT NOT NULL DEFAULT '', confirmed_at BIGINT);
CREATE TABLE account_events (
    id         TEXT   PRIMARY KEY,
    creator_id TEXT   NOT NULL REFERENCES creators (id),
    kind       TEXT   NOT NULL,
    address    TEXT   NOT NULL,
    user_agent TEXT   NOT NULL,
    note       TEXT   NOT NULL,
    at         BIGINT NOT NULL
, actor_id TEXT NOT NULL DEFAULT '', key_name TEXT NOT NULL DEFAULT '', object_id TEXT NOT NULL DEFAULT '');
CREATE TABLE listings (
    id          TEXT   PRIMARY KEY,
    creator_id  TEXT   NOT NULL,
    type        TEXT   NOT NULL,
    title       TEXT   NOT NULL,
    description TEXT   NOT NULL,
    search      TEXT   NOT NULL,             -- title and description in lower case: both engines search alike
    slug        TEXT   NOT NULL,
    catalog_key TEXT   NOT NULL,
    price_minor BIGINT NOT NULL,
    currency    TEXT   NOT NULL,
    price_id    TEXT   NOT NULL,
    tax_behavior TEXT  NOT NULL,             -- inclusive, exclusive
    status      TEXT   NOT NULL,
    metadata    TEXT   NOT NULL,             -- JSON object
    variants    TEXT   NOT NULL,             -- JSON array
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    revision    BIGINT NOT NULL,
    images      TEXT   NOT NULL DEFAULT '[]' -- JSON array
, trial_once BOOLEAN NOT NULL DEFAULT TRUE, one_running BOOLEAN NOT NULL DEFAULT TRUE, has_files BOOLEAN NOT NULL DEFAULT FALSE);
CREATE TABLE plans (
    id         TEXT    PRIMARY KEY,
    creator_id TEXT    NOT NULL,
    listing_id TEXT    NOT NULL REFERENCES listings (id),
    key        TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    is_default BOOLEAN NOT NULL,
    trial_days BIGINT  NOT NULL,
    prices     TEXT    NOT NULL,             -- JSON array
    terms      TEXT    NOT NULL,             -- JSON object
    retired    BOOLEAN NOT NULL,
    created_at BIGINT  NOT NULL,
    updated_at BIGINT  NOT NULL,
    revision   BIGINT  NOT NULL
);
CREATE TABLE payment_links (
    id          TEXT    PRIMARY KEY,
    creator_id  TEXT    NOT NULL,
    code        TEXT    NOT NULL,
    listing_id  TEXT    NOT NULL REFERENCES listings (id),
    variant_id  TEXT    NOT NULL,
    plan_key    TEXT    NOT NULL,
    interval    TEXT    NOT NULL,
    success_url TEXT    NOT NULL,
    active      BOOLEAN NOT NULL,
    created_at  BIGINT  NOT NULL,
    updated_at  BIGINT  NOT NULL,
    revision    BIGINT  NOT NULL
, currency TEXT NOT NULL DEFAULT '', buyer_may_change TEXT NOT NULL DEFAULT '{}');
CREATE TABLE discounts (
    id                 TEXT   PRIMARY KEY,
    creator_id         TEXT   NOT NULL,
    code               TEXT   NOT NULL,
    code_key           TEXT   NOT NULL,      -- what codes are compared by
    percent_off        BIGINT NOT NULL,
    amount_off         BIGINT NOT NULL,
    currency           TEXT   NOT NULL,
    duration           TEXT   NOT NULL,
    duration_in_months BIGINT NOT NULL,
    max_redemptions    BIGINT NOT NULL,      -- 0 = no maximum
    redeemed           BIGINT NOT NULL,
    expires_at         BIGINT,
    listing_ids        TEXT   NOT NULL,      -- JSON array
    created_at         BIGINT NOT NULL,
    deleted_at         BIGINT,
    revision           BIGINT NOT NULL,
    CHECK (max_redemptions = 0 OR redeemed <= max_redemptions)
);
CREATE TABLE discount_redemptions (
    checkout_id TEXT   NOT NULL,
    creator_id  TEXT   NOT NULL,
    discount_id TEXT   NOT NULL REFERENCES discounts (id),
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (creator_id, checkout_id)
);
CREATE TABLE customers (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT,               -- NULL for a buyer whom the integrator did not name
    email                TEXT   NOT NULL,
    display_name         TEXT   NOT NULL,
    details              TEXT   NOT NULL,    -- JSON: what the customer gave at checkout
    created_at           BIGINT NOT NULL,
    updated_at           BIGINT NOT NULL,
    revision             BIGINT NOT NULL
, metadata TEXT NOT NULL DEFAULT '', erased_at BIGINT);
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
, trial_dropped BOOLEAN NOT NULL DEFAULT FALSE, intake TEXT NOT NULL DEFAULT '{}', consent TEXT, consent_from TEXT);
CREATE TABLE payments (
    id                TEXT    PRIMARY KEY,
    creator_id        TEXT    NOT NULL,
    purpose           TEXT    NOT NULL,         -- checkout, subscription, invoice
    subject_id        TEXT    NOT NULL,         -- of the session, subscription or invoice
    customer_id       TEXT    NOT NULL,         -- '' until a checkout is paid
    payment_method_id TEXT    NOT NULL,         -- '' unless a saved card is charged
    receipt_number    TEXT    NOT NULL,         -- '' until it has one; of the sale
    sale              TEXT    NOT NULL,         -- JSON: how the amount comes about
    off_session       BOOLEAN NOT NULL,
    currency          TEXT    NOT NULL,
    amount            BIGINT  NOT NULL,
    status            TEXT    NOT NULL,
    decline           TEXT    NOT NULL,         -- JSON: why it was declined
    provider          TEXT    NOT NULL,         -- who takes the money
    processor_id      TEXT    NOT NULL,         -- the processor's own id; '' until it has responded
    method            TEXT    NOT NULL,
    brand             TEXT    NOT NULL,
    last4             TEXT    NOT NULL,
    save_card         BOOLEAN NOT NULL,
    created_at        BIGINT  NOT NULL,
    settled_at        BIGINT,
    processor_fee     BIGINT  NOT NULL,         -- what the processor kept
    refunded          BIGINT  NOT NULL DEFAULT 0,
    revision          BIGINT  NOT NULL,
    mandate           TEXT    NOT NULL DEFAULT '' -- what the customer agreed to with a card that is charged and saved
);
CREATE TABLE payment_methods (
    id          TEXT   PRIMARY KEY,
    creator_id  TEXT   NOT NULL,
    customer_id TEXT   NOT NULL,
    provider    TEXT   NOT NULL,             -- who knows the card
    token       TEXT   NOT NULL,             -- the provider's name of the card
    brand       TEXT   NOT NULL,
    last4       TEXT   NOT NULL,
    exp_month   BIGINT NOT NULL,             -- 0 = unknown
    exp_year    BIGINT NOT NULL,
    mandate     TEXT   NOT NULL,             -- JSON: the text and its acceptance
    created_at  BIGINT NOT NULL,
    removed_at  BIGINT,
    revision    BIGINT NOT NULL
, country TEXT NOT NULL DEFAULT '', chosen_at BIGINT);
CREATE TABLE card_setups (
    id                TEXT   PRIMARY KEY,
    creator_id        TEXT   NOT NULL,
    customer_id       TEXT   NOT NULL,
    return_url        TEXT   NOT NULL,       -- '' when no page awaits the customer
    status            TEXT   NOT NULL,
    attempt_id        TEXT   NOT NULL,       -- '' before the first card
    processor_id      TEXT   NOT NULL,       -- the processor's own id of the attempt; '' until it has responded
    last_error        TEXT   NOT NULL,       -- JSON
    payment_method_id TEXT   NOT NULL,       -- '' until a card is saved
    created_at        BIGINT NOT NULL,
    expires_at        BIGINT NOT NULL,
    revision          BIGINT NOT NULL,
    mandate           TEXT   NOT NULL DEFAULT '' -- what the customer agrees to, as the page showed it
);
CREATE TABLE refunds (
    id                 TEXT    PRIMARY KEY,
    creator_id         TEXT    NOT NULL,
    payment_id         TEXT    NOT NULL,
    checkout_id        TEXT    NOT NULL,     -- '' for a payment outside a checkout
    customer_id        TEXT    NOT NULL,
    subscription_id    TEXT    NOT NULL,     -- '' unless the payment renewed one
    currency           TEXT    NOT NULL,
    amount             BIGINT  NOT NULL CHECK (amount > 0),
    tax                BIGINT  NOT NULL,     -- contained in the amount
    reason             TEXT    NOT NULL,
    keep_access        BOOLEAN NOT NULL,
    status             TEXT    NOT NULL,
    failure_reason     TEXT    NOT NULL,
    credit_note_number TEXT    NOT NULL,     -- '' until it succeeds
    request_key        TEXT    NOT NULL,     -- the caller's idempotency key; '' for none
    is_full            BOOLEAN NOT NULL,
    created_at         BIGINT  NOT NULL,
    settled_at         BIGINT,
    revision           BIGINT  NOT NULL,
    processor_id       TEXT    NOT NULL DEFAULT '' -- the processor's own id of a refund that was made there without us
, subscription TEXT NOT NULL DEFAULT '', automatic BOOLEAN NOT NULL DEFAULT FALSE, metadata TEXT NOT NULL DEFAULT '');
CREATE TABLE disputes (
    id           TEXT   PRIMARY KEY,
    creator_id   TEXT   NOT NULL,
    payment_id   TEXT   NOT NULL,
    checkout_id  TEXT   NOT NULL,            -- '' for a payment outside a checkout
    customer_id  TEXT   NOT NULL,
    subscription_id TEXT NOT NULL,           -- '' unless the payment renewed one
    processor_id TEXT   NOT NULL,
    currency     TEXT   NOT NULL,
    amount       BIGINT NOT NULL,            -- what is held
    tax          BIGINT NOT NULL,            -- contained in the amount
    reason       TEXT   NOT NULL,
    status       TEXT   NOT NULL,
    response     TEXT   NOT NULL,            -- what was asked to be sent and is not known to have arrived
    evidence     TEXT   NOT NULL,            -- JSON
    respond_by   BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    closed_at    BIGINT,
    revision     BIGINT NOT NULL
, credit_note_number TEXT NOT NULL DEFAULT '', files TEXT NOT NULL DEFAULT '[]');
CREATE TABLE processor_events (
    id          TEXT   PRIMARY KEY,
    provider    TEXT   NOT NULL,             -- who reported it
    kind        TEXT   NOT NULL,             -- payment, setup, refund, dispute, payout
    object_id   TEXT   NOT NULL,
    creator_id  TEXT   NOT NULL,             -- '' where the processor doesn't report it
    received_at BIGINT NOT NULL
);
CREATE TABLE scheduling (
    creator_id TEXT PRIMARY KEY,
    hours      TEXT NOT NULL,                -- JSON object: zone, weekly hours, overrides
    meetings   TEXT NOT NULL                 -- JSON object: link provider, address
);
CREATE TABLE reservations (
    id            TEXT   PRIMARY KEY,
    creator_id    TEXT   NOT NULL,
    listing_id    TEXT   NOT NULL,
    variant_id    TEXT   NOT NULL,
    checkout_id   TEXT   NOT NULL,
    position      BIGINT NOT NULL,           -- in the pack, from 0
    status        TEXT   NOT NULL,
    starts_at     BIGINT NOT NULL,
    ends_at       BIGINT NOT NULL,
    blocked_from  BIGINT NOT NULL,           -- the session with its buffers
    blocked_until BIGINT NOT NULL,
    timezone      TEXT   NOT NULL,
    delivery_mode TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    revision      BIGINT NOT NULL, seats BIGINT NOT NULL DEFAULT 0,
    CHECK (blocked_from < blocked_until)
);
CREATE TABLE appointments (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    listing_id           TEXT   NOT NULL,
    variant_id           TEXT   NOT NULL,
    checkout_id          TEXT   NOT NULL,
    position             BIGINT NOT NULL,
    reservation_id       TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    customer_id          TEXT   NOT NULL,
    title                TEXT   NOT NULL,
    status               TEXT   NOT NULL,
    starts_at            BIGINT NOT NULL,
    ends_at              BIGINT NOT NULL,
    timezone             TEXT   NOT NULL,
    delivery_mode        TEXT   NOT NULL,
    meeting_url          TEXT   NOT NULL,
    address              TEXT   NOT NULL,
    buyer_moves          BIGINT NOT NULL,
    sequence             BIGINT NOT NULL,
    cancel_reason        TEXT   NOT NULL,
    canceled_at          BIGINT,
    created_at           BIGINT NOT NULL,
    revision             BIGINT NOT NULL,
    full_refund_hours    BIGINT,                 -- how long before the start canceling returns everything; NULL promises nothing
    canceled_by          TEXT   NOT NULL DEFAULT '',
    refund_decision      TEXT   NOT NULL DEFAULT '', -- what canceling did to the money
    refund_id            TEXT   NOT NULL DEFAULT ''
, outcome TEXT NOT NULL DEFAULT '', outcome_at BIGINT, intake TEXT NOT NULL DEFAULT '{}', group_id TEXT NOT NULL DEFAULT '');
CREATE TABLE calendar_feeds (
    creator_id TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL
);
CREATE TABLE busy_calendars (
    creator_id TEXT   NOT NULL,
    url        TEXT   NOT NULL,
    position   BIGINT NOT NULL,
    read_at    BIGINT,                       -- when it was last read with success
    failed_at  BIGINT,                       -- when it last could not be read, after read_at or with none
    failure    TEXT   NOT NULL,              -- why
    PRIMARY KEY (creator_id, url)
);
CREATE TABLE busy_times (
    creator_id TEXT   NOT NULL,
    url        TEXT   NOT NULL,
    starts_at  BIGINT NOT NULL,
    ends_at    BIGINT NOT NULL,
    PRIMARY KEY (creator_id, url, starts_at)
);
CREATE TABLE access_snapshots (
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    version              BIGINT NOT NULL,
    etag                 TEXT   NOT NULL,
    body                 BYTEA  NOT NULL,
    next_end             BIGINT, announced_version BIGINT NOT NULL DEFAULT 0, announced_at BIGINT,             -- when the next grant expires, account time
    PRIMARY KEY (creator_id, external_customer_id)
);
CREATE TABLE access_versions (
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    version              BIGINT NOT NULL,
    changed              TEXT   NOT NULL,    -- JSON: the members that differ
    cause                TEXT   NOT NULL,
    cause_id             TEXT   NOT NULL,
    at                   BIGINT NOT NULL,
    PRIMARY KEY (creator_id, external_customer_id, version)
);
CREATE TABLE credit_uses (
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    idempotency_key      TEXT   NOT NULL,
    credit_key           TEXT   NOT NULL,
    asked_unit           TEXT   NOT NULL,    -- '' = none was named
    amount               BIGINT NOT NULL,
    unit                 TEXT   NOT NULL,
    granted              BIGINT NOT NULL,    -- the response, as of right after the use
    used                 BIGINT NOT NULL,
    balance              BIGINT NOT NULL,
    version              BIGINT NOT NULL,
    at                   BIGINT NOT NULL,
    PRIMARY KEY (creator_id, external_customer_id, idempotency_key)
);
CREATE TABLE subscriptions (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    customer_id          TEXT   NOT NULL REFERENCES customers (id),
    external_customer_id TEXT   NOT NULL,
    checkout_id          TEXT   NOT NULL,
    offer                TEXT   NOT NULL,
    status               TEXT   NOT NULL,
    payment_method_id    TEXT   NOT NULL,    -- '' for a price of nothing
    anchor               BIGINT NOT NULL,
    current_period_start BIGINT NOT NULL,
    current_period_end   BIGINT NOT NULL,
    trial_ends_at        BIGINT,
    started_at           BIGINT NOT NULL,
    cancel_at_period_end BOOLEAN NOT NULL,
    canceled_at          BIGINT,
    paused_at            BIGINT,
    ended_at             BIGINT,
    planned              TEXT   NOT NULL,    -- JSON: the offer of the next period; null = the same
    discount             TEXT   NOT NULL,    -- JSON; null = none
    credit               BIGINT NOT NULL,
    period_value         BIGINT NOT NULL,
    dunning              TEXT   NOT NULL,    -- JSON
    charge               TEXT   NOT NULL,    -- JSON: the charge whose outcome is awaited; null = none
    revision             BIGINT NOT NULL
, funds TEXT NOT NULL DEFAULT '[]', disputes TEXT NOT NULL DEFAULT '[]', held BOOLEAN NOT NULL DEFAULT FALSE, withdrawn BOOLEAN NOT NULL DEFAULT FALSE, cancel_reason TEXT NOT NULL DEFAULT '', trial_card TEXT NOT NULL DEFAULT '', counted TEXT NOT NULL DEFAULT '', movements TEXT NOT NULL DEFAULT '[]', last_movement BIGINT NOT NULL DEFAULT 0, rolled BIGINT NOT NULL DEFAULT -1, metadata TEXT NOT NULL DEFAULT '');
CREATE TABLE subscription_quotes (
    id              TEXT   PRIMARY KEY,
    creator_id      TEXT   NOT NULL,
    subscription_id TEXT   NOT NULL REFERENCES subscriptions (id),
    quote           TEXT   NOT NULL,         -- JSON
    expires_at      BIGINT NOT NULL,
    used_at         BIGINT
);
CREATE TABLE subscription_periods (
    payment_id      TEXT   PRIMARY KEY,
    creator_id      TEXT   NOT NULL,
    subscription_id TEXT   NOT NULL REFERENCES subscriptions (id),
    kind            TEXT   NOT NULL,         -- renewal, plan_change, resumption
    period_start    BIGINT NOT NULL,
    period_end      BIGINT NOT NULL,
    due             BIGINT NOT NULL DEFAULT 0, -- what the payment took before tax
    value           BIGINT NOT NULL DEFAULT 0 -- what it pays of the value of its period: refunds are taken off that; 0 = not known
);
CREATE TABLE document_numbers (
    creator_id TEXT   NOT NULL,
    series     TEXT   NOT NULL,
    last       BIGINT NOT NULL,
    PRIMARY KEY (creator_id, series)
);
CREATE TABLE documents (
    id         TEXT   PRIMARY KEY, -- kind:body of the subject's id
    creator_id TEXT   NOT NULL,
    series     TEXT   NOT NULL,    -- R, I, C; '' for a payout statement
    number     TEXT   NOT NULL,
    subject_id TEXT   NOT NULL,    -- payment, invoice, refund, dispute or payout
    currency   TEXT   NOT NULL,
    total      BIGINT NOT NULL,
    tax        BIGINT NOT NULL,
    issued_at  BIGINT NOT NULL,
    snapshot   TEXT   NOT NULL     -- JSON
);
CREATE TABLE invoices (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    customer_id          TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    number               TEXT   NOT NULL,
    status               TEXT   NOT NULL,
    currency             TEXT   NOT NULL,
    lines                TEXT   NOT NULL, -- JSON, with the arithmetic of each
    subtotal             BIGINT NOT NULL,
    tax                  BIGINT NOT NULL,
    tax_details          TEXT   NOT NULL, -- JSON: why the tax is what it is
    total                BIGINT NOT NULL,
    period_start         TEXT   NOT NULL,
    period_end           TEXT   NOT NULL,
    subscription_id      TEXT   NOT NULL,
    billing_plan_id      TEXT   NOT NULL, -- '' unless it bills usage
    key                  TEXT   NOT NULL, -- of the integrator; '' when it bills usage
    fingerprint          TEXT   NOT NULL,
    attempt_count        BIGINT NOT NULL,
    first_failed_at      BIGINT,
    next_attempt_at      BIGINT,
    decline_code         TEXT   NOT NULL,
    payment_id           TEXT   NOT NULL,
    created_at           BIGINT NOT NULL,
    finalized_at         BIGINT NOT NULL,
    paid_at              BIGINT,
    revision             BIGINT NOT NULL
, metadata TEXT NOT NULL DEFAULT '');
CREATE TABLE events (
    id         TEXT    PRIMARY KEY,
    creator_id TEXT    NOT NULL,
    type       TEXT    NOT NULL,
    customer_id          TEXT NOT NULL,      -- as the data names them, '' where it names none
    external_customer_id TEXT NOT NULL,
    livemode   BOOLEAN NOT NULL,
    data       TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    position   BIGINT  NOT NULL              -- its place among the account's, in the order of commits
);
CREATE TABLE event_positions (
    creator_id TEXT   PRIMARY KEY,
    last       BIGINT NOT NULL
);
CREATE TABLE webhook_endpoints (
    id              TEXT    PRIMARY KEY,
    creator_id      TEXT    NOT NULL,
    url             TEXT    NOT NULL,
    events          TEXT    NOT NULL,
    enabled         BOOLEAN NOT NULL,
    disabled_reason TEXT    NOT NULL,
    max_in_flight   BIGINT  NOT NULL,
    max_per_second  BIGINT  NOT NULL,        -- 0 = no limit
    secret          BYTEA   NOT NULL,        -- encrypted
    previous_secret BYTEA,                   -- encrypted; signs too until previous_until
    previous_until  BIGINT,
    failures        BIGINT  NOT NULL,
    failing_since   BIGINT,
    open_until      BIGINT,                  -- the circuit breaker
    subscribed_since BIGINT,                 -- account time: from then on every event that the filters match has a delivery
    created_at      BIGINT  NOT NULL,
    revision        BIGINT  NOT NULL
);
CREATE TABLE deliveries (
    id              TEXT   PRIMARY KEY,
    creator_id      TEXT   NOT NULL,
    event_id        TEXT   NOT NULL,
    event_type      TEXT   NOT NULL,
    endpoint_id     TEXT   NOT NULL,
    status          TEXT   NOT NULL,
    attempt_count   BIGINT NOT NULL,         -- attempts ever made
    round_attempts  BIGINT NOT NULL DEFAULT 0, -- attempts since the delivery was last made due again
    next_attempt_at BIGINT,
    created_at      BIGINT NOT NULL,
    revision        BIGINT NOT NULL
);
CREATE TABLE delivery_attempts (
    creator_id    TEXT   NOT NULL,
    delivery_id   TEXT   NOT NULL,
    number        BIGINT NOT NULL,
    at            BIGINT NOT NULL,
    status_code   BIGINT NOT NULL,           -- 0 = no response
    duration_ms   BIGINT NOT NULL,
    error         TEXT   NOT NULL,
    response_body TEXT   NOT NULL
);
CREATE TABLE mails (
    id             TEXT   PRIMARY KEY,
    creator_id     TEXT   NOT NULL,
    kind           TEXT   NOT NULL,
    cause          TEXT   NOT NULL,
    recipient      TEXT   NOT NULL,
    recipient_name TEXT   NOT NULL,
    data           TEXT   NOT NULL,          -- the content, frozen
    created_at     BIGINT NOT NULL,          -- real time, as the next three
    leaves_at      BIGINT,                   -- the earliest time to send it, by the limit per recipient
    sent_at        BIGINT,
    refused_at     BIGINT,
    refusal        TEXT   NOT NULL DEFAULT ''
);
CREATE TABLE clock_offsets (
    creator_id TEXT   PRIMARY KEY,
    offset_ms  BIGINT NOT NULL DEFAULT 0,
    holder     TEXT   NOT NULL DEFAULT '',   -- who is moving it
    held_until BIGINT NOT NULL DEFAULT 0     -- real time
);
CREATE TABLE sandbox_charges (
    payment_id  TEXT   PRIMARY KEY,
    checkout_id TEXT   NOT NULL,
    creator_id  TEXT   NOT NULL,
    method      TEXT   NOT NULL,
    outcome     TEXT   NOT NULL,
    offset_ms   BIGINT NOT NULL
);
CREATE TABLE sandbox_refunds (
    refund_id  TEXT   PRIMARY KEY,
    payment_id TEXT   NOT NULL REFERENCES sandbox_charges (payment_id),
    currency   TEXT   NOT NULL,
    amount     BIGINT NOT NULL
);
CREATE TABLE sandbox_disputes (
    id         TEXT   PRIMARY KEY,
    payment_id TEXT   NOT NULL,
    creator_id TEXT   NOT NULL,
    currency   TEXT   NOT NULL,
    amount     BIGINT NOT NULL,
    status     TEXT   NOT NULL,
    respond_by BIGINT NOT NULL
);
CREATE TABLE sales (
    id            TEXT    PRIMARY KEY,       -- of the payment
    creator_id    TEXT    NOT NULL,
    currency      TEXT    NOT NULL,
    total         BIGINT  NOT NULL,
    tax           BIGINT  NOT NULL,
    platform_fee  BIGINT  NOT NULL,
    processor_fee BIGINT  NOT NULL,
    pending       BIGINT  NOT NULL,
    returned      BIGINT  NOT NULL,          -- refunds, those under way included, and disputes
    returned_tax  BIGINT  NOT NULL,
    refunded      BIGINT  NOT NULL,
    lost          BIGINT  NOT NULL,
    dispute_id    TEXT    NOT NULL,          -- '' unless one is open
    disputed      BIGINT  NOT NULL,
    disputed_tax  BIGINT  NOT NULL,
    available_at  BIGINT  NOT NULL,
    released      BOOLEAN NOT NULL,
    created_at    BIGINT  NOT NULL,
    revision      BIGINT  NOT NULL,
    CHECK (returned >= 0 AND returned <= total AND returned_tax >= 0 AND returned_tax <= tax)
);
CREATE TABLE payouts (
    id             TEXT   PRIMARY KEY,
    creator_id     TEXT   NOT NULL,
    currency       TEXT   NOT NULL,
    amount         BIGINT NOT NULL CHECK (amount > 0),
    status         TEXT   NOT NULL,
    failure_reason TEXT   NOT NULL,
    request_key    TEXT   NOT NULL,          -- the caller's idempotency key; '' for none
    created_at     BIGINT NOT NULL,
    paid_at        BIGINT,
    failed_at      BIGINT,
    revision       BIGINT NOT NULL,
    destination    TEXT   NOT NULL DEFAULT '' -- the rail's id of the account that it goes to; '' where the rail needs none
);
CREATE TABLE payout_accounts (
    id               TEXT   PRIMARY KEY,      -- of the creator
    creator_id       TEXT   NOT NULL,
    rail_id          TEXT   NOT NULL,         -- the rail's id of the account, such as Stripe's acct_…
    country          TEXT   NOT NULL,         -- ISO 3166-1 alpha-2; '' where the rail does not report it
    status           TEXT   NOT NULL,         -- pending, ready, restricted
    requirements_due TEXT   NOT NULL,         -- JSON: what the rail still needs, by its own names
    disabled_reason  TEXT   NOT NULL,         -- '' for none
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    revision         BIGINT NOT NULL
);
CREATE TABLE usage_meters (
    id          TEXT   PRIMARY KEY,
    creator_id  TEXT   NOT NULL,
    name        TEXT   NOT NULL,
    event_name  TEXT   NOT NULL,
    aggregation TEXT   NOT NULL,
    created_at  BIGINT NOT NULL
, unique_property TEXT NOT NULL DEFAULT '', dimensions TEXT NOT NULL DEFAULT 'null');
CREATE TABLE usage_products (
    id         TEXT   PRIMARY KEY,
    creator_id TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    type       TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE usage_prices (
    id               TEXT   PRIMARY KEY,
    creator_id       TEXT   NOT NULL,
    product_id       TEXT   NOT NULL REFERENCES usage_products (id),
    billing_scheme   TEXT   NOT NULL,
    currency         TEXT   NOT NULL,
    tiers            TEXT   NOT NULL,     -- JSON
    billing_interval TEXT   NOT NULL,
    created_at       BIGINT NOT NULL
);
CREATE TABLE usage_billing_plans (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    customer_id          TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    subscription_id      TEXT   NOT NULL,
    meter_id             TEXT   NOT NULL REFERENCES usage_meters (id),
    price_id             TEXT   NOT NULL REFERENCES usage_prices (id),
    billing_interval     TEXT   NOT NULL,
    anchor               BIGINT NOT NULL,
    starts_at            BIGINT NOT NULL,
    ends_at              BIGINT,          -- NULL while the subscription runs
    free_until           BIGINT,          -- NULL without a trial
    current_start        BIGINT NOT NULL,
    current_end          BIGINT NOT NULL,
    status               TEXT   NOT NULL,
    created_at           BIGINT NOT NULL,
    revision             BIGINT NOT NULL
, next_price_id TEXT NOT NULL DEFAULT '', earlier_prices TEXT NOT NULL DEFAULT 'null');
CREATE TABLE usage_streams (
    id                   BIGINT  PRIMARY KEY,
    creator_id           TEXT    NOT NULL,
    customer_id          TEXT    NOT NULL,
    external_customer_id TEXT    NOT NULL,
    subscription_id      TEXT    NOT NULL,
    meter_id             TEXT    NOT NULL,
    event_name           TEXT    NOT NULL,
    aggregation          TEXT    NOT NULL,
    billing_interval     TEXT    NOT NULL,
    interval_count       BIGINT  NOT NULL,
    anchor               BIGINT  NOT NULL,
    starts_at            BIGINT  NOT NULL,
    ends_at              BIGINT,
    included             BIGINT  NOT NULL,
    plan_id              TEXT    NOT NULL, -- '' while nothing bills it
    closed               BOOLEAN NOT NULL,
    version              BIGINT  NOT NULL
);
CREATE TABLE usage_watermark (
    id         BIGINT PRIMARY KEY,
    position   BIGINT NOT NULL,          -- everything before it is in the rollups
    step       BIGINT NOT NULL,
    checked    BIGINT NOT NULL           -- and everything before this has been counted a second time
, divided BIGINT NOT NULL DEFAULT 0, daily BIGINT NOT NULL DEFAULT 0);
CREATE TABLE usage_alerts (
    id              TEXT   PRIMARY KEY,
    creator_id      TEXT   NOT NULL,
    subscription_id TEXT   NOT NULL,
    meter_id        TEXT   NOT NULL,
    percent         BIGINT NOT NULL,     -- 0: the threshold is absolute
    threshold       TEXT   NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE TABLE usage_alerts_reached (
    creator_id   TEXT   NOT NULL,
    alert_id     TEXT   NOT NULL,
    period_start BIGINT NOT NULL,
    PRIMARY KEY (alert_id, period_start)
);
CREATE TABLE usage_events (
    position     INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_id    BIGINT  NOT NULL,
    period_start BIGINT  NOT NULL,
    occurred_at  BIGINT  NOT NULL,
    received_at  BIGINT  NOT NULL,
    voided_at    BIGINT,
    ordered      BOOLEAN NOT NULL,
    quantity     TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    creator_id   TEXT    NOT NULL
, unique_value BYTEA, key TEXT, dimensions TEXT);
CREATE TABLE usage_keys (
    stream_id    BIGINT NOT NULL,
    period_start BIGINT NOT NULL,
    received_at  BIGINT NOT NULL,
    position     BIGINT NOT NULL,        -- 0: the report's id finds it
    event_id     TEXT   NOT NULL,
    creator_id   TEXT   NOT NULL,
    key          TEXT   NOT NULL,
    fingerprint  BLOB   NOT NULL,
    PRIMARY KEY (creator_id, key)
);
CREATE TABLE usage_rollups (
    stream_id       BIGINT  NOT NULL,
    period_start    BIGINT  NOT NULL,
    creator_id      TEXT    NOT NULL,
    aggregation     TEXT    NOT NULL,
    quantity        TEXT    NOT NULL,
    last_at         BIGINT,
    last_id         TEXT    NOT NULL,
    reports         BIGINT  NOT NULL,
    step            BIGINT  NOT NULL,
    as_of           BIGINT,
    invoice_id      TEXT    NOT NULL,
    billed_quantity TEXT    NOT NULL,
    billed          BIGINT  NOT NULL,
    billed_at       BIGINT,
    checked_quantity TEXT NOT NULL DEFAULT '0', -- what the reports behind the watermark's mark of checked ones come to
    checked_reports BIGINT  NOT NULL DEFAULT 0,
    incomplete      BOOLEAN NOT NULL DEFAULT FALSE, billed_parts TEXT NOT NULL DEFAULT 'null', -- some of its reports are deleted, as old ones are
    PRIMARY KEY (stream_id, period_start)
);
CREATE TABLE usage_included (
    creator_id TEXT   NOT NULL,
    stream_id  BIGINT NOT NULL,
    since      BIGINT NOT NULL,
    included   BIGINT NOT NULL,
    PRIMARY KEY (stream_id, since)
);
CREATE TABLE ledger_postings (
    id                 TEXT   NOT NULL,      -- led_…0; an entry has the place of its account instead of the zero
    creator_id         TEXT   NOT NULL,
    source_type        TEXT   NOT NULL,      -- payment, refund, dispute, payout
    source_id          TEXT   NOT NULL,
    kind               TEXT   NOT NULL,
    currency           TEXT   NOT NULL,
    processor_clearing BIGINT NOT NULL,
    disputed_funds     BIGINT NOT NULL,
    processor_fee      BIGINT NOT NULL,
    tax_payable        BIGINT NOT NULL,
    platform_fee       BIGINT NOT NULL,
    creator_pending    BIGINT NOT NULL,
    creator_available  BIGINT NOT NULL,
    creator_reserved   BIGINT NOT NULL,
    creator_in_transit BIGINT NOT NULL,
    created_at         BIGINT NOT NULL,
    -- A source has at most one posting of each kind.
    CONSTRAINT ledger_postings_source_id_kind PRIMARY KEY (source_id, kind),
    CONSTRAINT ledger_postings_sum_to_zero CHECK (processor_clearing + disputed_funds + processor_fee + tax_payable
        + platform_fee + creator_pending + creator_available + creator_reserved + creator_in_transit = 0)
);
CREATE TABLE "grants" (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    source               TEXT   NOT NULL,
    source_id            TEXT   NOT NULL,
    checkout_id          TEXT   NOT NULL,    -- '' = not bought
    plan                 TEXT   NOT NULL,    -- JSON; null = loose entitlements and credits
    entitlements         TEXT   NOT NULL,    -- JSON
    credits              TEXT   NOT NULL,    -- JSON, with what is used of each
    note                 TEXT   NOT NULL,
    started_at           BIGINT NOT NULL,
    expires_at           BIGINT,
    ended_at             BIGINT,
    end_reason           TEXT   NOT NULL,    -- '' = it counts
    revision             BIGINT NOT NULL
);
CREATE TABLE ledger_balances (
    creator_id TEXT   NOT NULL,
    currency   TEXT   NOT NULL,
    until      TEXT   NOT NULL, -- id of a posting
    pending    BIGINT NOT NULL,
    available  BIGINT NOT NULL,
    reserved   BIGINT NOT NULL,
    in_transit BIGINT NOT NULL,
    PRIMARY KEY (creator_id, currency)
);
CREATE TABLE calendar_versions (
    creator_id TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL
);
CREATE TABLE deployment_keys (
    key_group   TEXT   NOT NULL,
    generation  BIGINT NOT NULL,
    wrapped     BYTEA  NOT NULL,
    created_at  BIGINT NOT NULL,
    active_from BIGINT NOT NULL, -- until then it makes nothing, so that every process knows it before it is used
    PRIMARY KEY (key_group, generation)
);
CREATE TABLE files (
    id             TEXT    PRIMARY KEY,
    creator_id     TEXT    NOT NULL,
    listing_id     TEXT    NOT NULL,
    name           TEXT    NOT NULL,
    content_type   TEXT    NOT NULL,
    size           BIGINT  NOT NULL,
    version        BIGINT  NOT NULL,
    download_limit BIGINT  NOT NULL,
    status         TEXT    NOT NULL,
    created_at     BIGINT  NOT NULL,
    revision       BIGINT  NOT NULL
, dispute_id TEXT NOT NULL DEFAULT '');
CREATE TABLE file_parts (
    file_id TEXT   NOT NULL,
    number  BIGINT NOT NULL,
    PRIMARY KEY (file_id, number)
);
CREATE TABLE file_downloads (
    creator_id    TEXT   NOT NULL,
    file_id       TEXT   NOT NULL,
    checkout_id   TEXT   NOT NULL,
    downloads     BIGINT NOT NULL,
    downloaded_at BIGINT NOT NULL,
    PRIMARY KEY (file_id, checkout_id)
);
CREATE TABLE account_limits (
    creator_id TEXT   NOT NULL,
    resource   TEXT   NOT NULL,
    value      BIGINT NOT NULL, -- 0: no limit
    PRIMARY KEY (creator_id, resource)
);
CREATE TABLE operator_actions (
    id         TEXT   PRIMARY KEY,
    operator   TEXT   NOT NULL, -- the name under which the command ran
    kind       TEXT   NOT NULL,
    creator_id TEXT   NOT NULL, -- '' for what is done to no account
    note       TEXT   NOT NULL,
    at         BIGINT NOT NULL
);
CREATE TABLE ledger_days (
    creator_id TEXT   NOT NULL,
    currency   TEXT   NOT NULL,
    day        BIGINT NOT NULL, -- since 1970-01-01, UTC
    sales      BIGINT NOT NULL,
    gross      BIGINT NOT NULL,
    refunds    BIGINT NOT NULL,
    disputes   BIGINT NOT NULL,
    tax        BIGINT NOT NULL,
    fees       BIGINT NOT NULL,
    PRIMARY KEY (creator_id, day, currency)
);
CREATE TABLE ledger_days_until (
    creator_id TEXT PRIMARY KEY,
    until      TEXT NOT NULL
);
CREATE TABLE mrr_days (
    creator_id TEXT   NOT NULL,
    day        BIGINT NOT NULL, -- since 1970-01-01, UTC
    currency   TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    minor      BIGINT NOT NULL,
    count      BIGINT NOT NULL,
    PRIMARY KEY (creator_id, day, currency, kind)
);
CREATE TABLE members (
    id            TEXT   PRIMARY KEY,
    creator_id    TEXT   NOT NULL REFERENCES creators (id),
    email         TEXT   NOT NULL,
    name          TEXT   NOT NULL,
    role          TEXT   NOT NULL,
    password_hash TEXT   NOT NULL,
    expires_at    BIGINT NOT NULL,
    joined_at     BIGINT,
    created_at    BIGINT NOT NULL,
    revision      BIGINT NOT NULL
);
CREATE TABLE usage_unique_values (
    creator_id   TEXT   NOT NULL,
    stream_id    BIGINT NOT NULL,
    period_start BIGINT NOT NULL,
    value        BYTEA  NOT NULL,
    event_id     TEXT   NOT NULL,
    PRIMARY KEY (stream_id, period_start, value)
);
CREATE TABLE second_steps (
    id               TEXT   PRIMARY KEY,
    creator_id       TEXT   NOT NULL,
    app_secret       BYTEA,                  -- encrypted
    app_added_at     BIGINT,
    last_step        BIGINT NOT NULL,        -- the time step of the last code that was accepted
    new_app_secret   BYTEA,                  -- encrypted; of an app that has not shown a code yet
    new_app_at       BIGINT,
    recovery         TEXT   NOT NULL,        -- HMACs of the unused recovery codes
    recovery_made_at BIGINT,
    passkeys         TEXT   NOT NULL,
    revision         BIGINT NOT NULL
);
CREATE TABLE imported_objects (
    creator_id TEXT   NOT NULL,
    source     TEXT   NOT NULL,    -- the payment provider
    source_id  TEXT   NOT NULL,
    object_id  TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (creator_id, source, source_id)
);
CREATE TABLE usage_credits (
    id                   TEXT    PRIMARY KEY,
    creator_id           TEXT    NOT NULL,
    customer_id          TEXT    NOT NULL,
    external_customer_id TEXT    NOT NULL,
    checkout_id          TEXT    NOT NULL,
    payment_id           TEXT    NOT NULL,    -- '' for a purchase of nothing
    paid                 BIGINT  NOT NULL,
    currency             TEXT    NOT NULL,
    meter                TEXT    NOT NULL,    -- '' = every meter
    granted              BIGINT  NOT NULL,
    used                 BIGINT  NOT NULL,
    returned             BIGINT  NOT NULL,
    expired              BIGINT  NOT NULL,
    disputed             BOOLEAN NOT NULL,
    expires_at           BIGINT,
    created_at           BIGINT  NOT NULL,
    end_reason           TEXT    NOT NULL,    -- '' while something is left
    ended_at             BIGINT,
    revision             BIGINT  NOT NULL
);
CREATE TABLE usage_credit_uses (
    credit_id  TEXT   NOT NULL,
    invoice_id TEXT   NOT NULL,
    creator_id TEXT   NOT NULL,
    amount     BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (credit_id, invoice_id)
);
CREATE TABLE reservation_seats (
    id            TEXT   PRIMARY KEY,
    creator_id    TEXT   NOT NULL,
    listing_id    TEXT   NOT NULL,
    variant_id    TEXT   NOT NULL,
    checkout_id   TEXT   NOT NULL,
    position      BIGINT NOT NULL,
    status        TEXT   NOT NULL,
    starts_at     BIGINT NOT NULL,
    ends_at       BIGINT NOT NULL,
    blocked_from  BIGINT NOT NULL,
    blocked_until BIGINT NOT NULL,
    timezone      TEXT   NOT NULL,
    delivery_mode TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    revision      BIGINT NOT NULL,
    group_id      TEXT   NOT NULL,           -- the reservation
    number        BIGINT NOT NULL            -- below the seats of the reservation: no two live ones have the same
);
CREATE TABLE refund_policies (
    creator_id TEXT   NOT NULL,
    hash       TEXT   NOT NULL,
    policy     TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (creator_id, hash)
);
CREATE TABLE usage_combinations (
    creator_id TEXT   NOT NULL,
    stream_id  BIGINT NOT NULL,
    number     BIGINT NOT NULL,
    dimensions TEXT   NOT NULL,
    PRIMARY KEY (stream_id, number)
);
CREATE TABLE usage_parts (
    stream_id    BIGINT  NOT NULL,
    period_start BIGINT  NOT NULL,
    number       BIGINT  NOT NULL,
    creator_id   TEXT    NOT NULL,
    quantity     TEXT NOT NULL,
    reports      BIGINT  NOT NULL,
    changed      BOOLEAN NOT NULL,       -- since it was billed
    PRIMARY KEY (stream_id, period_start, number)
);
CREATE TABLE meeting_accounts (
    creator_id   TEXT   NOT NULL,
    provider     TEXT   NOT NULL,
    name         TEXT   NOT NULL,
    token        BYTEA  NOT NULL, -- encrypted
    connected_at BIGINT NOT NULL,
    failed_at    BIGINT,          -- when the provider refused the token; NULL while it takes it
    revision     BIGINT NOT NULL,
    PRIMARY KEY (creator_id, provider)
);
CREATE TABLE hosted_meetings (
    id             TEXT   PRIMARY KEY, -- the room
    creator_id     TEXT   NOT NULL,
    provider       TEXT   NOT NULL,
    appointment_id TEXT   NOT NULL, -- '' where several buyers share the time
    group_id       TEXT   NOT NULL, -- '' where they do not
    provider_id    TEXT   NOT NULL, -- '' while the provider has no such meeting
    url            TEXT   NOT NULL,
    title          TEXT   NOT NULL,
    starts_at      BIGINT,          -- as the provider has it
    ends_at        BIGINT,
    created_at     BIGINT NOT NULL,
    revision       BIGINT NOT NULL
);
CREATE TABLE saved_filters (
    creator_id TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    list       TEXT NOT NULL, -- the path of the page
    name       TEXT NOT NULL,
    query      TEXT NOT NULL, -- the rest of its address
    PRIMARY KEY (creator_id, user_id, list, name)
);
CREATE TABLE usage_days (
    meter_id    TEXT    NOT NULL,
    day         INTEGER NOT NULL,
    stream_id   BIGINT  NOT NULL,
    creator_id  TEXT    NOT NULL,
    aggregation TEXT    NOT NULL,
    quantity    TEXT    NOT NULL,
    last_at     BIGINT,                  -- of LAST, as in usage_rollups
    last_id     TEXT    NOT NULL,
    reports     BIGINT  NOT NULL,
    PRIMARY KEY (meter_id, day, stream_id)
);
CREATE INDEX tasks_class_key_run_at ON tasks (class, concurrency_key, run_at, id);
CREATE INDEX tasks_creator_due ON tasks (creator_id, due_at, id);
CREATE INDEX tasks_creator_failed ON tasks (creator_id, due_at, id) WHERE last_error <> '';
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);
CREATE INDEX api_requests_creator_id ON api_requests (creator_id, id);
CREATE INDEX images_creator_id ON images (creator_id);
CREATE INDEX images_released_at ON images (released_at);
CREATE UNIQUE INDEX creators_email ON creators (email);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_creator_id ON api_keys (creator_id, id);
CREATE INDEX refresh_families_creator_id ON refresh_families (creator_id);
CREATE INDEX refresh_families_expires_at ON refresh_families (expires_at);
CREATE INDEX web_sessions_creator_id ON web_sessions (creator_id, id);
CREATE INDEX web_sessions_expires_at ON web_sessions (expires_at);
CREATE INDEX account_events_creator_id ON account_events (creator_id, id);
CREATE INDEX account_events_at ON account_events (at);
CREATE UNIQUE INDEX listings_slug ON listings (slug);
CREATE UNIQUE INDEX listings_creator_id_catalog_key ON listings (creator_id, catalog_key);
CREATE INDEX listings_mine ON listings (creator_id, id);
CREATE INDEX listings_newest ON listings (id) WHERE status = 'ACTIVE';
CREATE INDEX listings_cheapest ON listings (price_minor, id) WHERE status = 'ACTIVE';
CREATE INDEX listings_currency ON listings (currency, price_minor, id) WHERE status = 'ACTIVE';
CREATE INDEX listings_currency_newest ON listings (currency, id) WHERE status = 'ACTIVE';
CREATE INDEX listings_type ON listings (type, id) WHERE status = 'ACTIVE';
CREATE UNIQUE INDEX plans_creator_id_listing_id_key ON plans (creator_id, listing_id, key);
CREATE UNIQUE INDEX payment_links_code ON payment_links (code);
CREATE INDEX payment_links_mine ON payment_links (creator_id, id);
CREATE UNIQUE INDEX discounts_creator_id_code_key ON discounts (creator_id, code_key) WHERE deleted_at IS NULL;
CREATE INDEX discounts_mine ON discounts (creator_id, id) WHERE deleted_at IS NULL;
CREATE INDEX discount_redemptions_discount ON discount_redemptions (creator_id, discount_id);
CREATE INDEX customers_creator_id ON customers (creator_id, id);
CREATE UNIQUE INDEX customers_creator_id_external_customer_id ON customers (creator_id, external_customer_id);
CREATE INDEX sessions_creator_id ON sessions (creator_id, id);
CREATE INDEX sessions_opened_by ON sessions (creator_id, opened_by, id) WHERE opened_by <> '';
CREATE INDEX sessions_external_customer_id ON sessions (creator_id, external_customer_id, id);
CREATE INDEX sessions_reference_id ON sessions (creator_id, reference_id, id) WHERE reference_id <> '';
CREATE INDEX payments_creator_id ON payments (creator_id, id);
CREATE INDEX payments_subject ON payments (purpose, subject_id, id);
CREATE UNIQUE INDEX payments_creator_id_receipt_number ON payments (creator_id, receipt_number) WHERE receipt_number <> '';
CREATE UNIQUE INDEX payments_purpose_subject_id ON payments (purpose, subject_id) WHERE settled_at IS NULL;
CREATE INDEX payment_methods_customer ON payment_methods (customer_id, id);
CREATE INDEX refunds_creator_id ON refunds (creator_id, id);
CREATE INDEX refunds_request_key ON refunds (creator_id, request_key);
CREATE UNIQUE INDEX refunds_creator_id_credit_note_number ON refunds (creator_id, credit_note_number) WHERE credit_note_number <> '';
CREATE INDEX refunds_payment_id ON refunds (payment_id, id);
CREATE UNIQUE INDEX refunds_processor_id ON refunds (processor_id) WHERE processor_id <> '';
CREATE UNIQUE INDEX disputes_processor_id ON disputes (processor_id);
CREATE INDEX disputes_creator_id ON disputes (creator_id, id);
CREATE INDEX disputes_payment_id ON disputes (payment_id, id);
CREATE INDEX reservations_live ON reservations (creator_id, blocked_from) WHERE status IN ('held', 'confirmed');
CREATE INDEX reservations_checkout ON reservations (creator_id, checkout_id);
CREATE UNIQUE INDEX appointments_creator_id_checkout_id_position ON appointments (creator_id, checkout_id, position);
CREATE UNIQUE INDEX appointments_reservation_id ON appointments (reservation_id);
CREATE INDEX appointments_newest ON appointments (creator_id, id);
CREATE INDEX appointments_customer ON appointments (creator_id, external_customer_id, id);
CREATE INDEX appointments_customer_id ON appointments (customer_id, id);
CREATE INDEX appointments_times ON appointments (creator_id, starts_at, id);
CREATE INDEX appointments_listing ON appointments (creator_id, listing_id, id);
CREATE INDEX appointments_status ON appointments (creator_id, status, id);
CREATE INDEX busy_times_ends ON busy_times (creator_id, ends_at);
CREATE UNIQUE INDEX subscriptions_checkout_id ON subscriptions (checkout_id);
CREATE INDEX subscriptions_creator_id ON subscriptions (creator_id, id);
CREATE INDEX subscriptions_customer_id ON subscriptions (customer_id, id);
CREATE INDEX subscription_quotes_subscription ON subscription_quotes (subscription_id);
CREATE UNIQUE INDEX subscription_periods_subscription_id_period_start ON subscription_periods (subscription_id, period_start) WHERE kind <> 'plan_change';
CREATE UNIQUE INDEX documents_creator_id_number ON documents (creator_id, number);
CREATE INDEX documents_subject_id ON documents (subject_id);
CREATE INDEX documents_issued_at ON documents (issued_at, id);
CREATE UNIQUE INDEX invoices_creator_id_key ON invoices (creator_id, key) WHERE key <> '';
CREATE UNIQUE INDEX invoices_creator_id_billing_plan_id_period_start ON invoices (creator_id, billing_plan_id, period_start) WHERE billing_plan_id <> '';
CREATE UNIQUE INDEX invoices_creator_id_number ON invoices (creator_id, number);
CREATE INDEX invoices_creator_id ON invoices (creator_id, id);
CREATE INDEX invoices_customer ON invoices (creator_id, customer_id, id);
CREATE INDEX events_creator_id_position ON events (creator_id, position, id);
CREATE INDEX events_customer_id ON events (creator_id, customer_id, position, id) WHERE customer_id <> '';
CREATE INDEX events_external_customer_id ON events (creator_id, external_customer_id, position, id) WHERE external_customer_id <> '';
CREATE INDEX events_creator_id_created_at ON events (creator_id, created_at, id);
CREATE INDEX webhook_endpoints_creator_id ON webhook_endpoints (creator_id, id);
CREATE UNIQUE INDEX deliveries_event_id_endpoint_id ON deliveries (event_id, endpoint_id);
CREATE INDEX deliveries_endpoint_id ON deliveries (endpoint_id, id);
CREATE INDEX deliveries_waiting ON deliveries (endpoint_id, id) WHERE status = 'pending';
CREATE INDEX delivery_attempts_delivery_id ON delivery_attempts (delivery_id);
CREATE UNIQUE INDEX mails_creator_id_kind_cause ON mails (creator_id, kind, cause);
CREATE INDEX mails_creator_id_recipient_leaves_at ON mails (creator_id, LOWER(recipient), leaves_at);
CREATE INDEX sandbox_charges_checkout_id ON sandbox_charges (checkout_id);
CREATE INDEX sales_created_at ON sales (creator_id, created_at, currency, total, refunded);
CREATE INDEX payouts_creator_id ON payouts (creator_id, id);
CREATE INDEX payouts_request_key ON payouts (creator_id, request_key);
CREATE UNIQUE INDEX payout_accounts_creator_id ON payout_accounts (creator_id);
CREATE UNIQUE INDEX payout_accounts_rail_id ON payout_accounts (rail_id);
CREATE UNIQUE INDEX usage_meters_creator_id_event_name ON usage_meters (creator_id, event_name);
CREATE INDEX usage_meters_creator_id ON usage_meters (creator_id, id);
CREATE INDEX usage_products_creator_id ON usage_products (creator_id, id);
CREATE INDEX usage_prices_creator_id ON usage_prices (creator_id, id);
CREATE UNIQUE INDEX usage_billing_plans_creator_id_subscription_id_meter_id ON usage_billing_plans (creator_id, subscription_id, meter_id);
CREATE INDEX usage_billing_plans_creator_id ON usage_billing_plans (creator_id, id);
CREATE UNIQUE INDEX usage_streams_creator_id_subscription_id_event_name ON usage_streams (creator_id, subscription_id, event_name);
CREATE INDEX usage_streams_customer ON usage_streams (creator_id, external_customer_id);
CREATE INDEX usage_alerts_creator_id ON usage_alerts (creator_id, id);
CREATE INDEX usage_alerts_stream ON usage_alerts (creator_id, subscription_id, meter_id);
CREATE INDEX usage_events_stream ON usage_events (stream_id, period_start);
CREATE INDEX usage_events_id ON usage_events (id);
CREATE INDEX usage_rollups_step ON usage_rollups (step, stream_id);
CREATE INDEX usage_rollups_unchecked ON usage_rollups (stream_id) WHERE reports <> checked_reports OR quantity <> checked_quantity;
CREATE INDEX subscriptions_external_customer_id ON subscriptions (creator_id, external_customer_id, id);
CREATE INDEX customers_lower_email ON customers (creator_id, LOWER(email), id);
CREATE INDEX subscriptions_trial_card ON subscriptions (trial_card) WHERE trial_card <> '';
CREATE INDEX ledger_postings_available ON ledger_postings (creator_id, currency, id, creator_available)
    WHERE creator_available <> 0;
CREATE UNIQUE INDEX ledger_postings_creator_id ON ledger_postings (creator_id, id);
CREATE UNIQUE INDEX grants_creator_id_source_source_id ON grants (creator_id, source, source_id);
CREATE INDEX grants_customer ON grants (creator_id, external_customer_id, id);
CREATE INDEX grants_checkout_id ON grants (checkout_id);
CREATE INDEX payments_customer ON payments (customer_id, id) WHERE customer_id <> '';
CREATE INDEX ledger_postings_payouts ON ledger_postings (creator_id, currency, id) WHERE kind = 'payout_requested';
CREATE INDEX files_listing_id ON files (creator_id, listing_id, id);
CREATE INDEX files_uploading ON files (created_at, id) WHERE status = 'uploading';
CREATE INDEX operator_actions_creator_id ON operator_actions (creator_id, id);
CREATE INDEX subscriptions_moved ON subscriptions (creator_id, id) WHERE last_movement > rolled;
CREATE UNIQUE INDEX members_creator_id_email ON members (creator_id, email);
CREATE INDEX members_creator_id ON members (creator_id, id);
CREATE UNIQUE INDEX members_email ON members (email) WHERE joined_at IS NOT NULL;
CREATE INDEX second_steps_creator_id ON second_steps (creator_id);
CREATE INDEX usage_credits_creator_id ON usage_credits (creator_id, id);
CREATE INDEX usage_credits_customer_id ON usage_credits (customer_id, id);
CREATE INDEX usage_credits_checkout_id ON usage_credits (checkout_id);
CREATE INDEX usage_credit_uses_invoice_id ON usage_credit_uses (invoice_id);
CREATE UNIQUE INDEX reservation_seats_live ON reservation_seats (group_id, number) WHERE status IN ('held', 'confirmed');
CREATE INDEX reservation_seats_checkout ON reservation_seats (creator_id, checkout_id);
CREATE INDEX appointments_group ON appointments (creator_id, group_id) WHERE group_id <> '';
CREATE INDEX usage_parts_changed ON usage_parts (stream_id, period_start) WHERE changed;
CREATE INDEX hosted_meetings_unmade ON hosted_meetings (creator_id, provider, created_at) WHERE provider_id = '';
CREATE INDEX file_downloads_checkout_id ON file_downloads (checkout_id);
CREATE INDEX usage_days_creator_id ON usage_days (creator_id, day);
CREATE INDEX refunds_pending ON refunds (creator_id) WHERE status = 'pending';
CREATE TRIGGER reservations_insert_never_overlaps BEFORE INSERT ON reservations
WHEN NEW.status IN ('held', 'confirmed') AND NEW.blocked_from < (
    SELECT blocked_until FROM reservations
    WHERE creator_id = NEW.creator_id AND status IN ('held', 'confirmed') AND blocked_from < NEW.blocked_until
    ORDER BY blocked_from DESC LIMIT 1)
BEGIN
    SELECT RAISE(IGNORE);
END;
CREATE TRIGGER reservations_update_never_overlaps BEFORE UPDATE ON reservations
WHEN NEW.status IN ('held', 'confirmed') AND NEW.blocked_from < (
    SELECT blocked_until FROM reservations
    WHERE creator_id = NEW.creator_id AND status IN ('held', 'confirmed') AND blocked_from < NEW.blocked_until AND id <> NEW.id
    ORDER BY blocked_from DESC LIMIT 1)
BEGIN
    SELECT RAISE(ABORT, 'reservations overlap');
END;
CREATE TRIGGER ledger_postings_no_update BEFORE UPDATE ON ledger_postings
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER ledger_postings_no_delete BEFORE DELETE ON ledger_postings
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER reservations_inserted AFTER INSERT ON reservations
WHEN NEW.status IN ('held', 'confirmed')
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
CREATE TRIGGER reservations_updated AFTER UPDATE ON reservations
WHEN (OLD.status IN ('held', 'confirmed')) <> (NEW.status IN ('held', 'confirmed'))
    OR (OLD.starts_at, OLD.blocked_from, OLD.blocked_until, OLD.listing_id)
    <> (NEW.starts_at, NEW.blocked_from, NEW.blocked_until, NEW.listing_id)
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
CREATE TRIGGER scheduling_inserted AFTER INSERT ON scheduling
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
CREATE TRIGGER scheduling_updated AFTER UPDATE ON scheduling
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
CREATE TRIGGER busy_calendars_read AFTER UPDATE OF read_at ON busy_calendars
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
CREATE TRIGGER busy_calendars_deleted AFTER DELETE ON busy_calendars
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (OLD.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
CREATE TRIGGER reservation_seats_inserted AFTER INSERT ON reservation_seats
WHEN NEW.status IN ('held', 'confirmed')
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
CREATE TRIGGER reservation_seats_updated AFTER UPDATE ON reservation_seats
WHEN (OLD.status IN ('held', 'confirmed')) <> (NEW.status IN ('held', 'confirmed'))
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
INSERT INTO usage_watermark VALUES (1, 0, 0, 0, 0, 0);
