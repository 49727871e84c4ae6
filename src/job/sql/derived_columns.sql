-- The columns and the table that `collect` adds to those of the format (docs/reference/job.md), for a JOB that another
-- program wrote without them. The tables of the format are known as stored_ranks, stored_steps and so on.
--
--   - A row belongs to the file of its rank that begins last before it. Of files that begin together, it is the one that
--     the rule of `rank_doubled` lets stay.
--   - Rows of `op_stats` have no time: they belong to the file of their rank with the most spans.
--   - How far a file's wall clock may be wrong is unknown, and its quality has no reasons.
--
-- Example: rank 3 has files that begin at 0 and at 1000. A step that begins at 990 belongs to the first one.
-- SPDX-License-Identifier: Apache-2.0

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW ranks AS
SELECT attempt, rank, CAST(ROW_NUMBER() OVER (ORDER BY attempt, rank, start_ns, sha256, file) AS BIGINT) AS file_id,
  world_size, stage, host, boot, rank_from, file, sha256, start_ns, end_ns, spans,
  CAST(NULL AS BIGINT) AS wall_error_ns, 0 AS verdict, '' AS reasons
FROM stored_ranks;

-- The file to which the rows of a rank belong that begin in [first_ns, next_ns).
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW file_periods AS
WITH ordered AS (
  SELECT attempt, rank, file_id, start_ns,
    ROW_NUMBER() OVER (PARTITION BY attempt, rank ORDER BY start_ns, spans, sha256 DESC, file_id) AS place,
    ROW_NUMBER() OVER (PARTITION BY attempt, rank ORDER BY spans DESC, sha256, file_id) AS by_size
  FROM ranks
)
SELECT a.attempt, a.rank, a.file_id, a.by_size,
  CASE WHEN a.place = 1 THEN -9223372036854775807 ELSE a.start_ns END AS first_ns,
  COALESCE(b.start_ns, 9223372036854775807) AS next_ns
FROM ordered AS a LEFT JOIN ordered AS b ON a.attempt = b.attempt AND a.rank = b.rank AND a.place + 1 = b.place;

CREATE OR REPLACE TEMPORARY VIEW steps AS
SELECT p.file_id, s.*
FROM stored_steps AS s JOIN file_periods AS p
  ON s.attempt = p.attempt AND s.rank = p.rank AND s.start_ns >= p.first_ns AND s.start_ns < p.next_ns;

CREATE OR REPLACE TEMPORARY VIEW spans AS
SELECT p.file_id, s.*
FROM stored_spans AS s JOIN file_periods AS p
  ON s.attempt = p.attempt AND s.rank = p.rank AND s.start_ns >= p.first_ns AND s.start_ns < p.next_ns;

CREATE OR REPLACE TEMPORARY VIEW op_stats AS
SELECT p.file_id, s.*
FROM stored_op_stats AS s JOIN file_periods AS p ON s.attempt = p.attempt AND s.rank = p.rank AND p.by_size = 1;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW group_ids AS
SELECT group_key, CAST(ROW_NUMBER() OVER (ORDER BY group_key) AS BIGINT) AS group_id
FROM (SELECT DISTINCT group_key FROM stored_collectives) AS keys;

CREATE OR REPLACE TEMPORARY VIEW collectives AS
SELECT p.file_id, g.group_id,
  ROW_NUMBER() OVER (
    PARTITION BY p.file_id, g.group_id, c.step ORDER BY c.start_ns, c.duration_ns, c.kind, c.elements
  ) - 1 AS position,
  c.*
FROM stored_collectives AS c
  JOIN file_periods AS p
    ON c.attempt = p.attempt AND c.rank = p.rank AND c.start_ns >= p.first_ns AND c.start_ns < p.next_ns
  JOIN group_ids AS g ON c.group_key = g.group_key;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW rank_groups AS
SELECT attempt, rank, file_id, group_id, MIN(group_key) AS group_key, MIN(group_name) AS group_name,
  MAX(group_size) AS group_size, COUNT(*) AS spans, COUNT(seq) AS with_seq, COUNT(DISTINCT seq) AS distinct_seq,
  MIN(seq) AS first_seq, MAX(seq) AS last_seq
FROM collectives
GROUP BY attempt, rank, file_id, group_id;
