-- A scan whose details (usage, size_histogram, age_histogram, directory) are not
-- kept: readers must say so, where an empty table would read as zeros.

-- +goose Up

ALTER TABLE scan ADD COLUMN thinned boolean NOT NULL DEFAULT false;

-- +goose Down

ALTER TABLE scan DROP COLUMN thinned;
