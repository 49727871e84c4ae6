-- The steps of a job in order, numbered from 0 (`si`), each with the medians over the ranks of its durations, and of its
-- durations without waiting.
--
-- In a job whose ranks wait for each other all steps last equally long, so the durations do not show who is slow.
-- own_ns does: it is the duration less the waits of the rank in the synchronising collectives of the step.
--
-- Example: step 7 lasts 40 ns on three ranks, which wait 30, 28 and 0 of them: median_ns is 40, own_median_ns is 12.
-- SPDX-License-Identifier: Apache-2.0
-- @include matching.sql

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_step_times AS
WITH waits AS (
  SELECT m.in_step AS step, s.ri, CAST(SUM(s.duration_ns - m.transfer_ns) AS BIGINT) AS wait_ns
  FROM job_keyed_spans AS s JOIN job_matches AS m ON s.g = m.g AND s.n1 = m.n1 AND s.n2 = m.n2
  WHERE m.is_synchronising
  GROUP BY m.in_step, s.ri
)
SELECT j.ri, j.step, j.duration_ns, GREATEST(0, j.duration_ns - COALESCE(w.wait_ns, 0)) AS own_ns
FROM job_steps AS j LEFT JOIN waits AS w ON j.step = w.step AND j.ri = w.ri;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_step_medians AS
WITH of_steps AS (
  SELECT step, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY duration_ns) AS median_ns,
    PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY own_ns) AS own_median_ns
  FROM job_step_times
  GROUP BY step
)
SELECT step, CAST(ROW_NUMBER() OVER (ORDER BY step) - 1 AS INTEGER) AS si, CAST(median_ns AS BIGINT) AS median_ns,
  CAST(own_median_ns AS BIGINT) AS own_median_ns
FROM of_steps;

SELECT step, median_ns, own_median_ns FROM job_step_medians ORDER BY step;
