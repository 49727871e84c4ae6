-- The `rows` of `opscope ranks` (docs/reference/job_analyses.md), ordered by rank. A rank of -1 has a row, and no clock.
--
-- Example: steps of 10, 20 and 31 ns: step_mean_ns 20 (rounded down), step_p50_ns 20, step_p99_ns 31.
-- SPDX-License-Identifier: Apache-2.0
-- @include waiting.sql

WITH files AS (
  SELECT rank, MAX(stage) AS stage, MAX(NULLIF(host, '')) AS host, MIN(rank_from) AS rank_from, COUNT(*) AS files,
    CAST(SUM(spans) AS BIGINT) AS spans
  FROM job_judged_files
  WHERE fault IS NULL
  GROUP BY rank
),
step_sums AS (
  SELECT f.rank, COUNT(*) AS steps, CAST(SUM(GREATEST(0, LEAST(s.duration_ns, 8796093022207))) AS BIGINT) AS total,
    PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY GREATEST(0, LEAST(s.duration_ns, 8796093022207))) AS p50,
    PERCENTILE_DISC(0.99) WITHIN GROUP (ORDER BY GREATEST(0, LEAST(s.duration_ns, 8796093022207))) AS p99
  FROM steps AS s JOIN job_judged_files AS f ON s.file_id = f.file_id
  WHERE s.attempt = {{attempt}} AND f.fault IS NULL
  GROUP BY f.rank
),
step_means AS (
  SELECT rank, steps, total, p50, p99, CAST(FLOOR(total / steps) AS BIGINT) AS about FROM step_sums
),
span_counts AS (
  SELECT f.rank, COUNT(*) AS collectives
  FROM collectives AS c JOIN job_judged_files AS f ON c.file_id = f.file_id
  WHERE c.attempt = {{attempt}} AND f.fault IS NULL
  GROUP BY f.rank
),
waits AS (
  SELECT s.ri, COUNT(*) AS matched,
    CAST(SUM(CASE WHEN m.is_synchronising THEN s.duration_ns - m.transfer_ns ELSE 0 END) AS BIGINT) AS wait_ns
  FROM job_keyed_spans AS s JOIN job_matches AS m ON s.g = m.g AND s.n1 = m.n1 AND s.n2 = m.n2
  GROUP BY s.ri
),
lasts AS (
  SELECT last_ri, COUNT(*) AS last_count FROM job_collectives WHERE last_ri IS NOT NULL GROUP BY last_ri
)
SELECT f.rank, f.host, CASE WHEN f.stage >= 0 THEN f.stage END AS stage, f.rank_from, f.files, f.spans,
  COALESCE(s.steps, 0) AS steps, s.about + CAST(FLOOR((s.total - s.about * s.steps) / s.steps) AS BIGINT) AS step_mean_ns,
  CAST(s.p50 AS BIGINT) AS step_p50_ns, CAST(s.p99 AS BIGINT) AS step_p99_ns,
  COALESCE(n.collectives, 0) AS collectives, COALESCE(n.collectives, 0) - COALESCE(w.matched, 0) AS unmatched,
  COALESCE(w.wait_ns, 0) AS wait_ns, COALESCE(l.last_count, 0) AS last_count,
  COALESCE(c.clock_source, 'none') AS clock_source, c.clock_offset_ns, c.clock_bound_ns, c.clock_error_ns
FROM files AS f
  LEFT JOIN step_means AS s ON f.rank = s.rank
  LEFT JOIN span_counts AS n ON f.rank = n.rank
  LEFT JOIN job_rank_clocks AS c ON f.rank = c.rank
  LEFT JOIN waits AS w ON c.ri = w.ri
  LEFT JOIN lasts AS l ON c.ri = l.last_ri
ORDER BY f.rank;
