-- What runs scans by themselves: schedules, where and how scans run, attempts,
-- and how long details are kept.

-- +goose Up

ALTER TABLE filesystem
    -- '': fstally serve scans it; else the fstally worker of this name.
    ADD COLUMN worker        text    COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN stall_minutes integer NOT NULL DEFAULT 30 CHECK (stall_minutes >= 0),    -- 0: never
    ADD COLUMN nice          integer NOT NULL DEFAULT 10 CHECK (nice BETWEEN 0 AND 19),
    ADD COLUMN idle_io       boolean NOT NULL DEFAULT true,
    ADD COLUMN memory_limit  bigint  NOT NULL DEFAULT 0 CHECK (memory_limit >= 0);      -- bytes, 0: none

CREATE TABLE schedule (
    filesystem_id  bigint      PRIMARY KEY REFERENCES filesystem ON DELETE CASCADE,
    plan           text        NOT NULL, -- as internal/schedule reads it
    zone           text        NOT NULL,
    enabled        boolean     NOT NULL DEFAULT true,
    catch_up_hours integer     NOT NULL DEFAULT 12 CHECK (catch_up_hours >= 0),
    next_run_at    timestamptz,          -- as of looked_at; null before the first look
    looked_at      timestamptz
);

ALTER TABLE scan
    -- What asked for it; '' where this was not recorded yet.
    ADD COLUMN origin     text        NOT NULL DEFAULT ''
        CHECK (origin IN ('', 'schedule', 'manual', 'command', 'import', 'push')),
    ADD COLUMN not_before timestamptz,                    -- of a queued one: when another attempt may begin
    ADD COLUMN rejected   boolean     NOT NULL DEFAULT false, -- a suspect one that was looked at
    ADD CHECK (NOT rejected OR verdict = 'suspect'),
    -- 'skipped' is an occurrence that became no scan; the reason says why.
    DROP CONSTRAINT scan_state_check,
    ADD CONSTRAINT scan_state_check CHECK (
        state IN ('queued', 'running', 'complete', 'failed', 'cancelled', 'interrupted', 'skipped'));

-- At most one row, which is the site's; without it the defaults of
-- internal/postgres hold. 0 is for ever.
CREATE TABLE retention (
    id           boolean PRIMARY KEY DEFAULT true CHECK (id),
    nightly_days integer NOT NULL CHECK (nightly_days >= 0),
    weekly_days  integer NOT NULL CHECK (weekly_days >= 0),
    monthly_days integer NOT NULL CHECK (monthly_days >= 0)
);

-- +goose Down

DROP TABLE retention, schedule;
DELETE FROM scan WHERE state = 'skipped';
ALTER TABLE scan
    DROP CONSTRAINT scan_state_check,
    ADD CONSTRAINT scan_state_check CHECK (
        state IN ('queued', 'running', 'complete', 'failed', 'cancelled', 'interrupted')),
    DROP COLUMN origin, DROP COLUMN not_before, DROP COLUMN rejected;
ALTER TABLE filesystem
    DROP COLUMN worker, DROP COLUMN stall_minutes, DROP COLUMN nice, DROP COLUMN idle_io, DROP COLUMN memory_limit;
