-- near_ranks of the `steps` of critical-ranks (docs/reference/job_analyses.md), for every step, ordered by step.
--
-- Example: the mean step is 1000. In step 1, rank 0 waited 200 and rank 1 nothing: near_ranks is 1, because 200 > 10.
-- SPDX-License-Identifier: Apache-2.0
-- @include matching.sql

WITH waits AS (
  SELECT m.in_step AS step, s.ri, CAST(SUM(s.duration_ns - m.transfer_ns) AS BIGINT) AS wait_ns
  FROM job_keyed_spans AS s JOIN job_matches AS m ON s.g = m.g AND s.n1 = m.n1 AND s.n2 = m.n2
  WHERE m.is_synchronising
  GROUP BY m.in_step, s.ri
),
steps_of_ranks AS (
  SELECT DISTINCT ri, step FROM job_steps
)
SELECT r.step, COUNT(CASE WHEN 100 * COALESCE(w.wait_ns, 0) <= l.mean_step_ns THEN 1 END) AS near_ranks
FROM steps_of_ranks AS r CROSS JOIN job_length AS l LEFT JOIN waits AS w ON r.step = w.step AND r.ri = w.ri
GROUP BY r.step
ORDER BY r.step;
