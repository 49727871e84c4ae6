-- Input of the walk of critical-ranks (critical_ranks.h): the spans of all synchronising collectives, in any order.
-- `collective` numbers the collectives from 0 by group and number; `ri` numbers the ranks as critical_rank_bounds.sql.
-- A gap that is unknown is NULL.
--
-- Example: two ranks and one all-reduce: (0, 0, 400, 300, 400) and (0, 1, 650, 100, 600).
-- SPDX-License-Identifier: Apache-2.0
-- @include matching.sql

WITH numbered AS (
  SELECT g, n1, n2, ROW_NUMBER() OVER (ORDER BY g, n1, n2) - 1 AS collective FROM job_matches WHERE is_synchronising
)
SELECT n.collective, s.ri, s.start_ns, s.duration_ns, s.gap_ns
FROM job_keyed_spans AS s JOIN numbered AS n ON s.g = n.g AND s.n1 = n.n1 AND s.n2 = n.n2;
