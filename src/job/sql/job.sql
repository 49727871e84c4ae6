-- The files of an attempt that fit together, its ranks, and its groups of ranks. Every other file includes this one.
--
-- What `collect` writes for it beside the columns of docs/reference/job.md:
--
--   ranks.file_id BIGINT         the first 8 bytes of the SHA-256, big endian, signed; in `steps`, `collectives` too
--   ranks.wall_error_ns BIGINT   the `maxerror` of the wall clock; NULL if unknown
--   collectives.group_id BIGINT  the first 8 bytes of the SHA-256 of `group_key`, big endian, signed. Joins and groups
--                                over all rows use it, because a key of 80 characters costs five times as much.
--   collectives.position BIGINT  how many spans of the file have the same group and step (spans outside all steps
--                                count as one step) and begin earlier; of equal begins, the order of the rows decides
--   rank_groups                  one row per file and group: attempt, rank, file_id, group_id, group_key, group_name,
--                                group_size; BIGINT spans, with_seq (spans that have a `seq`), distinct_seq,
--                                first_seq, last_seq (the smallest and the largest; NULL if none). It decides on
--                                matching by `seq` without a look at 10 M rows.
--
-- Choices where the definition is silent:
--   - Files of rank -1 have no vote on the world size and are never left out. They are compared with nothing.
--   - Two files overlap if each begins before the other ends.
--   - A rank's host, boot and stage are the largest known ones of its files; rank_from is the smallest.
--   - A time is clamped to +-2^61 ns, a duration or gap to [0, 2^43) ns (2.4 hours). No sum below can overflow then.
--   - The listed members of a group are the first 29, those of its key.
--
-- Example: world sizes 8, 8, 4 and unknown (-1): 8 wins; the third file is `other_job`, the fourth stays.
-- SPDX-License-Identifier: Apache-2.0

-- Every file of the attempt, with the reason (`fault`) why it is left out; NULL: it stays.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_judged_files AS
WITH files AS (
  SELECT rank, world_size, stage, host, boot, rank_from, file, sha256, file_id, spans, wall_error_ns,
    GREATEST(-2305843009213693952, LEAST(start_ns, 2305843009213693952)) AS start_ns,
    GREATEST(-2305843009213693952, LEAST(end_ns, 2305843009213693952)) AS end_ns
  FROM ranks
  WHERE attempt = {{attempt}}
),
votes AS (
  SELECT world_size, COUNT(*) AS files
  FROM files
  WHERE rank >= 0 AND world_size > 0
  GROUP BY world_size
),
elected AS (
  SELECT world_size, ROW_NUMBER() OVER (ORDER BY files DESC, world_size) AS place
  FROM votes
),
fitting AS (
  SELECT files.*, COALESCE(elected.world_size, 0) AS job_size,
    files.rank >= 0 AND files.world_size > 0 AND files.world_size <> elected.world_size AS is_other_job
  FROM files LEFT JOIN elected ON elected.place = 1
),
doubled AS (
  SELECT DISTINCT a.file_id
  FROM fitting AS a JOIN fitting AS b ON a.rank = b.rank AND a.file_id <> b.file_id
  WHERE a.rank >= 0 AND COALESCE(a.is_other_job, FALSE) = FALSE AND COALESCE(b.is_other_job, FALSE) = FALSE
    AND a.start_ns < b.end_ns AND b.start_ns < a.end_ns
    AND (a.spans < b.spans OR (a.spans = b.spans AND a.sha256 > b.sha256))
)
SELECT fitting.*,
  CASE WHEN is_other_job THEN 'other_job' WHEN doubled.file_id IS NOT NULL THEN 'rank_doubled' END AS fault
FROM fitting LEFT JOIN doubled ON fitting.file_id = doubled.file_id;

-- The ranks that are compared. `ri` numbers them from 0 in order: it is small, so a duration and it fit into 64 bits.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_ranks AS
SELECT rank, CAST(ROW_NUMBER() OVER (ORDER BY rank) - 1 AS INTEGER) AS ri,
  MAX(stage) AS stage, MAX(NULLIF(host, '')) AS host, MAX(NULLIF(boot, '')) AS boot, MIN(rank_from) AS rank_from,
  COUNT(*) AS files, CAST(SUM(spans) AS BIGINT) AS spans, MIN(start_ns) AS start_ns,
  MAX(wall_error_ns) AS wall_error_ns, MAX(job_size) AS job_size
FROM job_judged_files
WHERE fault IS NULL AND rank >= 0
GROUP BY rank;

-- The files of these ranks.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_files AS
SELECT f.file_id, r.ri, r.rank, f.start_ns, r.files > 1 AS is_one_of_many
FROM job_judged_files AS f JOIN job_ranks AS r ON f.rank = r.rank
WHERE f.fault IS NULL;

-- Their steps.
CREATE OR REPLACE TEMPORARY VIEW job_steps AS
SELECT f.rank, f.ri, s.step, s.file_id,
  GREATEST(-2305843009213693952, LEAST(s.start_ns, 2305843009213693952)) AS start_ns,
  GREATEST(0, LEAST(s.duration_ns, 8796093022207)) AS duration_ns
FROM steps AS s JOIN job_files AS f ON s.file_id = f.file_id
WHERE s.attempt = {{attempt}};

-- The mean step, rounded down, and how many different steps there are; no row without steps.
-- The division is exact: `about` is off by little, and what is left over corrects it.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_length AS
WITH sums AS (
  SELECT CAST(SUM(duration_ns) AS BIGINT) AS total, COUNT(*) AS n, COUNT(DISTINCT step) AS steps
  FROM job_steps
),
guesses AS (
  SELECT total, n, steps, CAST(FLOOR(total / n) AS BIGINT) AS about FROM sums WHERE n > 0
)
SELECT steps, about + CAST(FLOOR((total - about * n) / n) AS BIGINT) AS mean_step_ns
FROM guesses;

-- Groups, numbered by their keys. `may_have_seq`: conditions 1 and 2 of matching by Seq, and the range of 4 is not empty.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_groups AS
WITH of_files AS (
  SELECT g.group_id, g.group_key, g.group_name, g.group_size, f.ri, g.spans, g.with_seq, g.distinct_seq, g.first_seq,
    g.last_seq,
    MAX(g.last_seq) OVER (
      PARTITION BY g.group_id, f.ri ORDER BY g.first_seq, g.file_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS last_before
  FROM rank_groups AS g JOIN job_files AS f ON g.file_id = f.file_id
  WHERE g.attempt = {{attempt}}
),
crossing AS (  -- members whose files share a range of numbers
  SELECT DISTINCT group_id, ri FROM of_files WHERE last_before >= first_seq
),
repeated AS (
  SELECT group_id
  FROM (
    SELECT c.group_id, f.ri, c.seq
    FROM collectives AS c
      JOIN job_files AS f ON c.file_id = f.file_id
      JOIN crossing ON crossing.group_id = c.group_id AND crossing.ri = f.ri
    WHERE c.attempt = {{attempt}}
    GROUP BY c.group_id, f.ri, c.seq
    HAVING COUNT(*) > 1
  ) AS twice
  GROUP BY group_id
),
members AS (
  SELECT group_id, MIN(group_key) AS group_key, MIN(group_name) AS group_name, MAX(group_size) AS group_size, ri,
    CAST(SUM(spans) AS BIGINT) AS spans,
    CAST(SUM(with_seq) AS BIGINT) AS with_seq, CAST(SUM(distinct_seq) AS BIGINT) AS distinct_seq,
    MIN(first_seq) AS first_seq, MAX(last_seq) AS last_seq
  FROM of_files
  GROUP BY group_id, ri
),
sums AS (
  SELECT group_id, MIN(group_key) AS group_key, MIN(group_name) AS group_name, MAX(group_size) AS group_size,
    COUNT(*) AS ranks,
    MIN(CASE WHEN spans = with_seq AND spans = distinct_seq THEN 1 ELSE 0 END) AS is_complete,
    MAX(first_seq) AS first_common, MIN(last_seq) AS last_common
  FROM members
  GROUP BY group_id
)
SELECT s.group_id, s.group_key, s.group_name, s.group_size, s.ranks, s.first_common, s.last_common,
  CAST(ROW_NUMBER() OVER (ORDER BY s.group_key) - 1 AS INTEGER) AS g,
  s.is_complete = 1 AND r.group_id IS NULL AND s.first_common <= s.last_common AS may_have_seq
FROM sums AS s LEFT JOIN repeated AS r ON s.group_id = r.group_id;

-- The ranks that have spans of a group.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_group_members AS
SELECT DISTINCT g.g, f.ri, f.rank
FROM rank_groups AS r JOIN job_files AS f ON r.file_id = f.file_id JOIN job_groups AS g ON r.group_id = g.group_id
WHERE r.attempt = {{attempt}};
