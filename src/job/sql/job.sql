-- The steps and the groups of the ranks that are compared. Every file of an answer includes this one.
--
-- What `collect` writes for it beside the columns of docs/reference/job.md:
--
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
--   - A time is clamped to +-2^61 ns, a duration or gap to [0, 2^43) ns (2.4 hours). No sum below can overflow then.
--   - The listed members of a group are the first 29, those of its key.
--
-- Example: a group whose two ranks have the numbers 0 to 9 and 5 to 20 may be matched by `seq`, from 5 to 9.
-- SPDX-License-Identifier: Apache-2.0
-- @include files.sql

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
