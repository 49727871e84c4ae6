-- The files of an attempt that fit together, and its ranks: from the table `ranks` alone.
--
-- What `collect` writes for it beside the columns of docs/reference/job.md:
--
--   ranks.file_id BIGINT         the first 8 bytes of the SHA-256, big endian, signed; in `steps`, `collectives` too
--   ranks.wall_error_ns BIGINT   the `maxerror` of the wall clock; NULL if unknown
--
-- Choices where the definition is silent:
--   - Files of rank -1 have no vote on the world size and are never left out. They are compared with nothing.
--   - Two files overlap if each begins before the other ends.
--   - A rank's host, boot and stage are the largest known ones of its files; rank_from is the smallest.
--   - A time is clamped to +-2^61 ns, so that no sum can overflow.
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
