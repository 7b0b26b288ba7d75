-- The first schema. internal/postgres/doc.go and docs/adr/0002-store.md say why
-- it looks like this. Names of files, paths, users and file systems' identities
-- are bytes; ids and counts are bigint; sums of bytes are numeric(39,0), which
-- holds every 128-bit number.

-- +goose Up

CREATE TABLE filesystem (
    id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name            text        COLLATE "C" NOT NULL CONSTRAINT filesystem_name_key UNIQUE,
    root            bytea       NOT NULL,
    identity        bytea       NOT NULL DEFAULT '',
    fs_type         text        NOT NULL DEFAULT '',
    size_classes    bigint[]    NOT NULL CHECK (cardinality(size_classes) = 4),
    fileset_depth   integer     NOT NULL DEFAULT 0,
    fileset_paths   bytea[]     NOT NULL DEFAULT '{}',
    fileset_names   bytea[]     NOT NULL DEFAULT '{}',
    walkers         integer     NOT NULL DEFAULT 0 CHECK (walkers >= 0),   -- 0: by file-system type
    ops_limit       integer     NOT NULL DEFAULT 0 CHECK (ops_limit >= -1), -- 0: by file-system type, -1: none
    demo            boolean     NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now(),
    current_scan_id bigint,
    CHECK (cardinality(fileset_paths) = cardinality(fileset_names))
);
-- A path may be longer than an index entry: the digest stands for it.
CREATE UNIQUE INDEX filesystem_root_key ON filesystem (sha256(root));

CREATE TABLE scan (
    id                 bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    filesystem_id      bigint      NOT NULL REFERENCES filesystem ON DELETE CASCADE,
    occurrence         timestamptz,                       -- due instant of a schedule
    attempt            integer     NOT NULL DEFAULT 1 CHECK (attempt >= 1),
    state              text        NOT NULL
        CHECK (state IN ('queued', 'running', 'complete', 'failed', 'cancelled', 'interrupted')),
    verdict            text        NOT NULL DEFAULT ''
        CHECK (verdict IN ('', 'clean', 'partial', 'unverified', 'suspect')),
    suspicion          text        NOT NULL DEFAULT '',   -- which rules made it suspect
    reason             text        NOT NULL DEFAULT '',

    -- The lease, on this database's clock.
    owner              text,
    heartbeat_at       timestamptz,
    cancel_requested   boolean     NOT NULL DEFAULT false,
    progress           jsonb,

    queued_at          timestamptz NOT NULL DEFAULT now(),
    started_at         timestamptz,
    finished_at        timestamptz,
    published_at       timestamptz,                       -- set: counts as history
    day                date,                              -- of started_at, in the site's zone
    tier               smallint    NOT NULL DEFAULT 0 CHECK (tier IN (0, 1, 2)),

    result_id          uuid        CONSTRAINT scan_result_key UNIQUE,
    version            text        NOT NULL DEFAULT '',
    root               bytea       NOT NULL DEFAULT '',
    identity           bytea       NOT NULL DEFAULT '',
    fs_type            text        NOT NULL DEFAULT '',
    host               text        NOT NULL DEFAULT '',
    engine             text        NOT NULL DEFAULT '',
    walkers            integer     NOT NULL DEFAULT 0,
    ops_limit          integer     NOT NULL DEFAULT 0,
    freshness          text        NOT NULL DEFAULT '',
    offline_known      boolean     NOT NULL DEFAULT false,
    size_classes       bigint[]    NOT NULL CHECK (cardinality(size_classes) = 4),

    files              bigint      NOT NULL DEFAULT 0,
    inodes             bigint      NOT NULL DEFAULT 0,
    size               numeric(39) NOT NULL DEFAULT 0,
    allocated          numeric(39) NOT NULL DEFAULT 0,
    slack              numeric(39) NOT NULL DEFAULT 0,
    offline            numeric(39) NOT NULL DEFAULT 0,

    entries            bigint      NOT NULL DEFAULT 0,
    links              bigint      NOT NULL DEFAULT 0,
    directories        bigint      NOT NULL DEFAULT 0,
    symlinks           bigint      NOT NULL DEFAULT 0,
    specials           bigint      NOT NULL DEFAULT 0,
    vanished           bigint      NOT NULL DEFAULT 0,
    errors             bigint      NOT NULL DEFAULT 0,
    skipped            bigint      NOT NULL DEFAULT 0,
    squashed_inodes    bigint      NOT NULL DEFAULT 0,    -- of nobody and its like

    distinct_users     bigint      NOT NULL DEFAULT 0,
    distinct_groups    bigint      NOT NULL DEFAULT 0,
    distinct_types     bigint      NOT NULL DEFAULT 0,
    distinct_filesets  bigint      NOT NULL DEFAULT 0,
    types_limited      boolean     NOT NULL DEFAULT false, -- a type that is missing is unknown

    capacity_size      numeric(39) NOT NULL DEFAULT 0,
    capacity_free      numeric(39) NOT NULL DEFAULT 0,
    capacity_available numeric(39) NOT NULL DEFAULT 0,
    inodes_total       bigint      NOT NULL DEFAULT 0,
    inodes_free        bigint      NOT NULL DEFAULT 0,
    block_size         bigint      NOT NULL DEFAULT 0,
    capacity_source    text        NOT NULL DEFAULT '',

    CONSTRAINT scan_attempt_key UNIQUE (filesystem_id, occurrence, attempt),
    CHECK ((state = 'running') = (owner IS NOT NULL)),
    CHECK (published_at IS NULL OR state = 'complete' AND verdict <> 'suspect')
) WITH (fillfactor = 70); -- heartbeats update in place
ALTER TABLE filesystem ADD CONSTRAINT filesystem_current_scan_fkey
    FOREIGN KEY (current_scan_id) REFERENCES scan;
CREATE UNIQUE INDEX scan_active_key ON scan (filesystem_id) WHERE state IN ('queued', 'running');
CREATE UNIQUE INDEX scan_occurrence_key ON scan (filesystem_id, occurrence)
    WHERE published_at IS NOT NULL AND occurrence IS NOT NULL;
CREATE INDEX scan_published_idx ON scan (filesystem_id, started_at, id) WHERE published_at IS NOT NULL;
CREATE INDEX scan_list_idx ON scan (filesystem_id, id);

CREATE TABLE scan_error (
    scan_id bigint  NOT NULL REFERENCES scan ON DELETE CASCADE,
    op      text    COLLATE "C" NOT NULL,
    errno   text    COLLATE "C" NOT NULL,
    message text    NOT NULL,
    count   bigint  NOT NULL,
    paths   bytea[] NOT NULL,
    PRIMARY KEY (scan_id, op, errno)
);

CREATE TABLE scan_skipped (
    scan_id bigint  NOT NULL REFERENCES scan ON DELETE CASCADE,
    reason  text    COLLATE "C" NOT NULL,
    count   bigint  NOT NULL,
    paths   bytea[] NOT NULL,
    PRIMARY KEY (scan_id, reason)
);

-- Dictionaries. They only grow; what stands in them is visible to nobody before
-- a scan refers to it.

CREATE TABLE category (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name bytea  NOT NULL UNIQUE
);

CREATE TABLE file_type (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        bytea  NOT NULL UNIQUE,
    category_id bigint NOT NULL REFERENCES category
);

CREATE TABLE fileset (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    filesystem_id bigint NOT NULL REFERENCES filesystem ON DELETE CASCADE,
    external_key  bytea  NOT NULL,             -- raw path below the root, '' for no fileset
    escaped_key   text   COLLATE "C" NOT NULL, -- usage.EscapeKey of it: how ties are ordered
    name          bytea  NOT NULL DEFAULT '',  -- '': called by its path
    path          bytea  NOT NULL DEFAULT '',
    source        text   NOT NULL DEFAULT 'path',
    contact       text   NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX fileset_key ON fileset (filesystem_id, sha256(external_key));

CREATE TABLE identity (
    kind      smallint    NOT NULL,             -- 0 user, 1 group
    id        bigint      NOT NULL,
    domain    text        COLLATE "C" NOT NULL, -- the host that resolved it
    name      bytea       NOT NULL,
    seen_from timestamptz NOT NULL,
    seen_to   timestamptz NOT NULL,
    PRIMARY KEY (kind, id, domain, name)
);

CREATE TABLE path (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    filesystem_id bigint NOT NULL REFERENCES filesystem ON DELETE CASCADE,
    parent_id     bigint NOT NULL, -- 0 for the root of the file system
    name          bytea  NOT NULL,
    CONSTRAINT path_key UNIQUE (filesystem_id, parent_id, name)
);

-- Marginals: sums over everything but one dimension, kept for ever. What pages
-- and histories are drawn from. dimension is the number of internal/postgres.

CREATE TABLE marginal (
    filesystem_id bigint      NOT NULL,
    scan_id       bigint      NOT NULL,
    dimension     smallint    NOT NULL,
    key           bigint      NOT NULL,
    key2          bigint      NOT NULL DEFAULT 0, -- the fileset of user x fileset
    files         bigint      NOT NULL,
    inodes        bigint      NOT NULL,
    size          numeric(39) NOT NULL,
    allocated     numeric(39) NOT NULL,
    slack         numeric(39) NOT NULL,
    offline       numeric(39) NOT NULL,
    PRIMARY KEY (scan_id, dimension, key, key2)
) WITH (
    -- Index-only histories need the visibility map soon after each import.
    autovacuum_vacuum_insert_threshold = 10000,
    autovacuum_vacuum_insert_scale_factor = 0
);
CREATE INDEX marginal_history_idx ON marginal (filesystem_id, dimension, key, key2, scan_id)
    INCLUDE (files, inodes, size, allocated, slack, offline);

-- The fine histogram of a whole scan, kept for ever.
CREATE TABLE size_total (
    scan_id   bigint      NOT NULL,
    by        smallint    NOT NULL, -- 0 size, 1 allocated
    bucket    smallint    NOT NULL,
    files     bigint      NOT NULL,
    size      numeric(39) NOT NULL,
    allocated numeric(39) NOT NULL,
    PRIMARY KEY (scan_id, by, bucket)
);

-- Details, which retention drops a partition at a time. Partitions are made by
-- the import (internal/postgres/partition.go); there is no default one.

CREATE TABLE usage (
    tier         smallint    NOT NULL,
    day          date        NOT NULL,
    scan_id      bigint      NOT NULL,
    uid          bigint      NOT NULL,
    gid          bigint      NOT NULL,
    file_type_id bigint      NOT NULL,
    fileset_id   bigint      NOT NULL,
    pool         bigint      NOT NULL,
    size_class   smallint    NOT NULL,
    age_class    smallint    NOT NULL,
    files        bigint      NOT NULL,
    inodes       bigint      NOT NULL,
    size         numeric(39) NOT NULL,
    allocated    numeric(39) NOT NULL,
    slack        numeric(39) NOT NULL,
    offline      numeric(39) NOT NULL
) PARTITION BY RANGE (tier, day);
CREATE INDEX usage_scan_idx ON usage USING brin (scan_id) WITH (autosummarize = on);

CREATE TABLE size_histogram (
    tier      smallint    NOT NULL,
    day       date        NOT NULL,
    scan_id   bigint      NOT NULL,
    dimension smallint    NOT NULL,
    key       bigint      NOT NULL,
    by        smallint    NOT NULL,
    bucket    smallint    NOT NULL,
    files     bigint      NOT NULL,
    size      numeric(39) NOT NULL,
    allocated numeric(39) NOT NULL
) PARTITION BY RANGE (tier, day);
CREATE INDEX size_histogram_scan_idx ON size_histogram (scan_id, dimension, key, by);

CREATE TABLE age_histogram (
    tier      smallint    NOT NULL,
    day       date        NOT NULL,
    scan_id   bigint      NOT NULL,
    dimension smallint    NOT NULL,
    key       bigint      NOT NULL,
    clock     smallint    NOT NULL, -- 0 mtime, 1 atime
    class     smallint    NOT NULL,
    files     bigint      NOT NULL,
    inodes    bigint      NOT NULL,
    size      numeric(39) NOT NULL,
    allocated numeric(39) NOT NULL,
    slack     numeric(39) NOT NULL,
    offline   numeric(39) NOT NULL
) PARTITION BY RANGE (tier, day);
CREATE INDEX age_histogram_scan_idx ON age_histogram (scan_id, dimension, key, clock);

CREATE TABLE directory (
    tier       smallint    NOT NULL,
    day        date        NOT NULL,
    scan_id    bigint      NOT NULL,
    preorder   integer     NOT NULL, -- 0 for the root
    last       integer     NOT NULL, -- preorder of the last row of its subtree
    parent     integer     NOT NULL, -- preorder of the parent, -1 for the root
    path_id    bigint      NOT NULL,
    uid        bigint      NOT NULL,
    gid        bigint      NOT NULL,
    fileset_id bigint      NOT NULL,
    newest     bigint      NOT NULL, -- mtime, seconds since 1970, any 64-bit number
    files      bigint      NOT NULL,
    inodes     bigint      NOT NULL,
    size       numeric(39) NOT NULL,
    allocated  numeric(39) NOT NULL,
    slack      numeric(39) NOT NULL,
    offline    numeric(39) NOT NULL
) PARTITION BY RANGE (tier, day);
CREATE INDEX directory_scan_idx ON directory (scan_id, preorder);

-- +goose Down

ALTER TABLE filesystem DROP CONSTRAINT filesystem_current_scan_fkey;
DROP TABLE directory, age_histogram, size_histogram, usage, size_total, marginal, path, identity,
    fileset, file_type, category, scan_skipped, scan_error, scan, filesystem;
