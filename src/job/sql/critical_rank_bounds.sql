-- Input of the walk of critical-ranks (critical_ranks.h): the ranks, in order of `ri`, which numbers them from 0.
-- begin_ns is the begin of the first step; a rank without steps begins with its first file, and its end_ns is NULL.
--
-- Example: rank 1 with one step [50, 1050): (0, 1, 50, 1050).
-- SPDX-License-Identifier: Apache-2.0
-- @include job.sql

WITH steps_of_ranks AS (
  SELECT ri, MIN(start_ns) AS begin_ns, MAX(start_ns + duration_ns) AS end_ns FROM job_steps GROUP BY ri
)
SELECT r.ri, r.rank, COALESCE(s.begin_ns, r.start_ns) AS begin_ns, s.end_ns
FROM job_ranks AS r LEFT JOIN steps_of_ranks AS s ON r.ri = s.ri
ORDER BY r.ri;
