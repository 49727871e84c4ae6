-- The `members` of `opscope collectives --members` (docs/reference/job_analyses.md): rows of a collective follow each other in
-- the order of collectives.sql, by rank.
--
-- Example: durations 150 and 50 of ranks 0 and 1: waits 100 and 0.
-- SPDX-License-Identifier: Apache-2.0
-- @include waiting.sql

SELECT g.group_key, c.number, r.rank, s.duration_ns, s.duration_ns - c.transfer_ns AS wait_ns
FROM job_collectives AS c
  JOIN job_groups AS g ON c.g = g.g
  JOIN job_keyed_spans AS s ON c.g = s.g AND c.n1 = s.n1 AND c.n2 = s.n2
  JOIN job_ranks AS r ON s.ri = r.ri
ORDER BY g.group_key, c.number, r.rank;
