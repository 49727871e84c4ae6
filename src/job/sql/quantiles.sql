-- The `rows` of `opscope summary JOB --quantiles`, from counts by bins of durations: a quantile is at most the largest
-- duration of the bin in which it lies (src/job/duration_bins.h), so it is never too small. The longest time comes first.
--
-- Example: 98 spans of 1000 ns, one of 1008 and one of 5000. The first 99 share a bin, whose largest is 1008: p50_ns and
-- p99_ns are 1008.
-- SPDX-License-Identifier: Apache-2.0
-- @include files.sql

WITH bins AS (
  SELECT s.name, s.bin, CAST(SUM(s.count) AS BIGINT) AS n, MAX(s.max_ns) AS max_ns,
    SUM(CAST(s.sum_ns AS DECIMAL(28, 0))) AS sum_ns
  FROM op_stats AS s JOIN job_judged_files AS f ON s.file_id = f.file_id
  WHERE s.attempt = {{attempt}} AND f.fault IS NULL
  GROUP BY s.name, s.bin
),
counted AS (
  SELECT name, n, sum_ns, max_ns, CAST(SUM(n) OVER (PARTITION BY name) AS BIGINT) AS total,
    CAST(SUM(n) OVER (
      PARTITION BY name ORDER BY bin ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS not_longer
  FROM bins
)
SELECT name, CAST(SUM(n) AS BIGINT) AS count,
  CAST(LEAST(SUM(sum_ns), 9223372036854775807) AS BIGINT) AS total_with_recursion_ns,
  MIN(CASE WHEN not_longer * 100 >= total * 50 THEN max_ns END) AS p50_ns,
  MIN(CASE WHEN not_longer * 100 >= total * 99 THEN max_ns END) AS p99_ns,
  MAX(max_ns) AS max_ns
FROM counted
GROUP BY name
ORDER BY total_with_recursion_ns DESC, name;
