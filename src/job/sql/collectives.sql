-- The `rows` of `opscope collectives` (docs/reference/job_analyses.md), ordered. A missing_ranks of NULL is an empty list.
--
-- Example: group `0/4/0,1,2,3` without a file of rank 3: missing_ranks of each collective is [3], because the key lists
-- it. Rank 2 has begun to record later: it is missing in those that only the others have.
-- SPDX-License-Identifier: Apache-2.0
-- @include waiting.sql

CREATE OR REPLACE TEMPORARY VIEW job_numbers_to_29 AS
SELECT a.n * 5 + b.n + 1 AS n
FROM (SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5)) AS t(n)) AS a
  CROSS JOIN (SELECT * FROM (VALUES (0), (1), (2), (3), (4)) AS t(n)) AS b
WHERE a.n * 5 + b.n < 29;

-- The members that the key lists, and the ranks that occur.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_group_ranks AS
WITH texts AS (
  SELECT g.g, SPLIT_PART(REGEXP_EXTRACT(g.group_key, '[^/]*$', 0), ',', CAST(n.n AS INTEGER)) AS member
  FROM job_groups AS g CROSS JOIN job_numbers_to_29 AS n
),
listed AS (
  SELECT DISTINCT g, CAST(member AS INTEGER) AS rank FROM texts WHERE member <> ''
)
SELECT g, ri, rank FROM job_group_members
UNION ALL
SELECT l.g, CAST(NULL AS INTEGER) AS ri, l.rank
FROM listed AS l LEFT JOIN job_group_members AS o ON l.g = o.g AND l.rank = o.rank
WHERE o.g IS NULL;

CREATE OR REPLACE TEMPORARY VIEW job_missing AS
WITH absent AS (
  SELECT c.g, c.n1, c.n2, r.rank
  FROM job_collectives AS c
    JOIN job_groups AS g ON c.g = g.g
    JOIN job_group_ranks AS r ON c.g = r.g
    LEFT JOIN job_keyed_spans AS s ON c.g = s.g AND c.n1 = s.n1 AND c.n2 = s.n2 AND r.ri = s.ri
  WHERE r.ri IS NOT NULL AND c.seen < g.ranks AND s.g IS NULL
  UNION ALL
  SELECT c.g, c.n1, c.n2, r.rank
  FROM job_collectives AS c JOIN job_group_ranks AS r ON c.g = r.g
  WHERE r.ri IS NULL
)
SELECT g, n1, n2, ARRAY_SORT(ARRAY_AGG(rank)) AS missing_ranks
FROM absent
GROUP BY g, n1, n2;

SELECT g.group_name AS group_name, g.group_key, g.group_size, c.number,
  CASE WHEN c.by_seq THEN 'seq' ELSE 'order' END AS number_from, c.step, c.kind, c.elements, c.seen, m.missing_ranks,
  c.transfer_ns, c.wait_ns, c.skew_ns, r.rank AS last_rank, c.end_spread_ns, c.clock_bound_ns
FROM job_collectives AS c
  JOIN job_groups AS g ON c.g = g.g
  LEFT JOIN job_ranks AS r ON c.last_ri = r.ri
  LEFT JOIN job_missing AS m ON c.g = m.g AND c.n1 = m.n1 AND c.n2 = m.n2
ORDER BY g.group_key, c.number;
