-- The `rows` of `opscope summary JOB --quantiles --exact`: as quantiles.sql, from the spans themselves.
--
-- Example: 98 spans of 1000 ns, one of 1008 and one of 5000: p50_ns is 1000, p99_ns is 1008.
-- SPDX-License-Identifier: Apache-2.0
-- @include files.sql

SELECT s.name, COUNT(*) AS count,
  CAST(LEAST(SUM(CAST(s.duration_ns AS DECIMAL(28, 0))), 9223372036854775807) AS BIGINT) AS total_with_recursion_ns,
  CAST(PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY s.duration_ns) AS BIGINT) AS p50_ns,
  CAST(PERCENTILE_DISC(0.99) WITHIN GROUP (ORDER BY s.duration_ns) AS BIGINT) AS p99_ns,
  MAX(s.duration_ns) AS max_ns
FROM spans AS s JOIN job_judged_files AS f ON s.file_id = f.file_id
WHERE s.attempt = {{attempt}} AND f.fault IS NULL
GROUP BY s.name
ORDER BY total_with_recursion_ns DESC, s.name;
