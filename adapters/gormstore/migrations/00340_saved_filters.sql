-- +goose Up

-- The filters of the dashboard's lists that people keep for themselves. user_id is that of the creator or the member.
CREATE TABLE saved_filters (
    creator_id TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    list       TEXT NOT NULL, -- the path of the page
    name       TEXT NOT NULL,
    query      TEXT NOT NULL, -- the rest of its address
    PRIMARY KEY (creator_id, user_id, list, name)
);

-- +goose Down
DROP TABLE saved_filters;
