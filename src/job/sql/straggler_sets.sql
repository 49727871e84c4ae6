-- The sets of ranks that `stragglers` tries (docs/reference/job_analyses.md), and what each caused in each collective.
--
-- A set is named by (kind, id): 0 and `ri` for a rank, 1 and the lowest `ri` for a host, 2 and its number for a stage.
--
-- Only three sets can have caused a wait in a collective: the rank that came last, its host and its stage. For any
-- other set a duration outside is as small as all inside. Most collectives are left out before their spans are read
-- again, because a set is a straggler only if enough steps reach 2 % of the mean step, and bounds on caused time show
-- that they cannot:
--   1. the longest less the shortest duration, from the sums of matching. A step sums them over the groups with the
--      largest sums, as many as a rank has at most, because caused(S, step) is that of one rank outside. Groups inside
--      the set do not count;
--   2. the shortest duration outside the set less the shortest one, from the spans of what is left;
--   3. the same less the inherited waits, which is exact.
--
-- Example (us): durations 150, 152, 50 and 149 on ranks 0 to 3. Rank 2 came last. Bound 1 is 102, bound 2 is 99.
--
-- Inherited waits: rank L of the set began late because it had waited, in other groups, for ranks outside the set. With
-- W(t), the sum of such waits of L that ended until t, it is W(begin) - W(begin - gap): two points on a running sum,
-- where a join of waits and gaps would be quadratic. A wait that ends exactly when the gap begins is not within it.
-- SPDX-License-Identifier: Apache-2.0
-- @include matching.sql

-- Per rank the sets that are tried; NULL: its host or stage is not. A stage that is a host is tried as the host only.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_rank_sets AS
WITH hosts AS (
  SELECT host, MIN(ri) AS id, COUNT(*) AS n FROM job_ranks WHERE host IS NOT NULL GROUP BY host
),
tried_hosts AS (
  SELECT host, id, n FROM hosts WHERE n >= 2 AND n < (SELECT COUNT(*) FROM job_ranks)
),
stages AS (
  SELECT r.stage, COUNT(*) AS n, COUNT(h.id) AS on_hosts, MIN(h.id) AS first_host, MAX(h.id) AS last_host,
    MIN(h.n) AS host_ranks
  FROM job_ranks AS r LEFT JOIN tried_hosts AS h ON r.host = h.host
  WHERE r.stage >= 0
  GROUP BY r.stage
),
tried_stages AS (
  SELECT stage
  FROM stages
  WHERE n >= 2 AND n < (SELECT COUNT(*) FROM job_ranks)
    AND NOT (on_hosts = n AND first_host = last_host AND host_ranks = n)
)
SELECT r.ri, r.rank, r.host, h.id AS host_set, s.stage AS stage_set
FROM job_ranks AS r
  LEFT JOIN tried_hosts AS h ON r.host = h.host
  LEFT JOIN tried_stages AS s ON r.stage = s.stage;

-- The different steps in order, without gaps, so that steps in a row have places in a row.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_step_places AS
SELECT step, ROW_NUMBER() OVER (ORDER BY step) AS place
FROM (SELECT DISTINCT step FROM job_steps) AS different;

-- The host or stage that contains all members of a group; NULL: none does.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_groups AS
SELECT m.g, CASE WHEN COUNT(r.host_set) = COUNT(*) AND MIN(r.host_set) = MAX(r.host_set) THEN MIN(r.host_set) END
    AS inside_host,
  CASE WHEN COUNT(r.stage_set) = COUNT(*) AND MIN(r.stage_set) = MAX(r.stage_set) THEN MIN(r.stage_set) END
    AS inside_stage
FROM job_group_members AS m JOIN job_rank_sets AS r ON m.ri = r.ri
GROUP BY m.g;

-- How many groups a rank has at most.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_most_groups AS
SELECT MAX(n) AS n FROM (SELECT ri, COUNT(*) AS n FROM job_group_members GROUP BY ri) AS counts;

-- Bound 1.
CREATE OR REPLACE TEMPORARY VIEW straggler_first_bounds AS
WITH lasts AS (
  SELECT m.g, r.ri, p.place, m.longest_ns - m.transfer_ns AS bound_ns,
    CASE WHEN r.host_set <> COALESCE(i.inside_host, -1) THEN r.host_set END AS host_set,
    CASE WHEN r.stage_set <> COALESCE(i.inside_stage, -1) THEN r.stage_set END AS stage_set
  FROM job_matches AS m
    JOIN job_step_places AS p ON m.in_step = p.step
    JOIN job_rank_sets AS r ON m.last_ri = r.ri
    JOIN straggler_groups AS i ON m.g = i.g
  WHERE m.is_synchronising AND m.longest_ns > m.transfer_ns
),
sums AS (
  SELECT 1 AS kind, host_set AS id, place, CAST(SUM(bound_ns) AS BIGINT) AS bound_ns
  FROM lasts WHERE host_set IS NOT NULL GROUP BY host_set, place, g
  UNION ALL
  SELECT 2 AS kind, stage_set AS id, place, CAST(SUM(bound_ns) AS BIGINT) AS bound_ns
  FROM lasts WHERE stage_set IS NOT NULL GROUP BY stage_set, place, g
),
ordered AS (
  SELECT kind, id, place, bound_ns,
    ROW_NUMBER() OVER (PARTITION BY kind, id, place ORDER BY bound_ns DESC) AS sum_place
  FROM sums
)
SELECT 0 AS kind, ri AS id, place, CAST(SUM(bound_ns) AS BIGINT) AS bound_ns FROM lasts GROUP BY ri, place
UNION ALL
SELECT o.kind, o.id, o.place, CAST(SUM(o.bound_ns) AS BIGINT) AS bound_ns
FROM ordered AS o JOIN straggler_most_groups AS n ON o.sum_place <= n.n
GROUP BY o.kind, o.id, o.place;

-- The sets that may have enough hits: half of the steps, or three in a row.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_first_candidates AS
WITH hits AS (
  SELECT b.kind, b.id, b.place, l.steps, b.place - ROW_NUMBER() OVER (PARTITION BY b.kind, b.id ORDER BY b.place) AS run
  FROM straggler_first_bounds AS b CROSS JOIN job_length AS l
  WHERE 50 * b.bound_ns >= l.mean_step_ns
),
runs AS (
  SELECT kind, id, MAX(steps) AS steps, COUNT(*) AS length FROM hits GROUP BY kind, id, run
)
SELECT kind, id FROM runs GROUP BY kind, id HAVING 2 * SUM(length) >= MAX(steps) OR MAX(length) >= 3;

-- The collectives of these sets, with what the last one's spans say. A set that does not come into question is NULL.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_collectives AS
WITH late AS (
  SELECT m.g, m.n1, m.n2, m.last_ri, m.transfer_ns, p.place, r.kind_0, r.kind_1, r.kind_2
  FROM job_matches AS m
    JOIN job_step_places AS p ON m.in_step = p.step
    JOIN (
      SELECT s.ri, a.id AS kind_0, b.id AS kind_1, c.id AS kind_2
      FROM job_rank_sets AS s
        LEFT JOIN straggler_first_candidates AS a ON a.kind = 0 AND s.ri = a.id
        LEFT JOIN straggler_first_candidates AS b ON b.kind = 1 AND s.host_set = b.id
        LEFT JOIN straggler_first_candidates AS c ON c.kind = 2 AND s.stage_set = c.id
      WHERE a.id IS NOT NULL OR b.id IS NOT NULL OR c.id IS NOT NULL
    ) AS r ON m.last_ri = r.ri
  WHERE m.is_synchronising AND m.longest_ns > m.transfer_ns
)
SELECT l.g, l.n1, l.n2, l.last_ri, l.place, l.transfer_ns, l.kind_0, l.kind_1, l.kind_2,
  MIN(CASE WHEN s.ri <> l.last_ri THEN s.duration_ns END) AS outside_0_ns,
  MIN(CASE WHEN COALESCE(r.host_set, -1) <> l.kind_1 THEN s.duration_ns END) AS outside_1_ns,
  MIN(CASE WHEN COALESCE(r.stage_set, -1) <> l.kind_2 THEN s.duration_ns END) AS outside_2_ns,
  MAX(CASE WHEN s.ri = l.last_ri THEN s.start_ns END) AS begin_ns,
  MAX(CASE WHEN s.ri = l.last_ri THEN s.gap_ns END) AS gap_ns
FROM late AS l
  JOIN job_keyed_spans AS s ON l.g = s.g AND l.n1 = s.n1 AND l.n2 = s.n2
  JOIN job_rank_sets AS r ON s.ri = r.ri
GROUP BY l.g, l.n1, l.n2, l.last_ri, l.place, l.transfer_ns, l.kind_0, l.kind_1, l.kind_2;

-- Bound 2, and the sets that are still candidates.
CREATE OR REPLACE TEMPORARY VIEW straggler_second_bounds AS
SELECT 0 AS kind, kind_0 AS id, place, g, n1, n2, last_ri, begin_ns, gap_ns, outside_0_ns - transfer_ns AS bound_ns
FROM straggler_collectives WHERE outside_0_ns > transfer_ns AND kind_0 IS NOT NULL
UNION ALL
SELECT 1 AS kind, kind_1 AS id, place, g, n1, n2, last_ri, begin_ns, gap_ns, outside_1_ns - transfer_ns AS bound_ns
FROM straggler_collectives WHERE outside_1_ns > transfer_ns AND kind_1 IS NOT NULL
UNION ALL
SELECT 2 AS kind, kind_2 AS id, place, g, n1, n2, last_ri, begin_ns, gap_ns, outside_2_ns - transfer_ns AS bound_ns
FROM straggler_collectives WHERE outside_2_ns > transfer_ns AND kind_2 IS NOT NULL;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_second_candidates AS
WITH of_groups AS (
  SELECT kind, id, place, CAST(SUM(bound_ns) AS BIGINT) AS bound_ns
  FROM straggler_second_bounds
  GROUP BY kind, id, place, g
),
ordered AS (
  SELECT kind, id, place, bound_ns,
    ROW_NUMBER() OVER (PARTITION BY kind, id, place ORDER BY bound_ns DESC) AS sum_place
  FROM of_groups
),
sums AS (
  SELECT o.kind, o.id, o.place, CAST(SUM(o.bound_ns) AS BIGINT) AS bound_ns
  FROM ordered AS o JOIN straggler_most_groups AS n ON o.sum_place <= n.n
  GROUP BY o.kind, o.id, o.place
),
hits AS (
  SELECT b.kind, b.id, b.place, l.steps, b.place - ROW_NUMBER() OVER (PARTITION BY b.kind, b.id ORDER BY b.place) AS run
  FROM sums AS b CROSS JOIN job_length AS l
  WHERE 50 * b.bound_ns >= l.mean_step_ns
),
runs AS (
  SELECT kind, id, MAX(steps) AS steps, COUNT(*) AS length FROM hits GROUP BY kind, id, run
)
SELECT kind, id FROM runs GROUP BY kind, id HAVING 2 * SUM(length) >= MAX(steps) OR MAX(length) >= 3;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_late AS
SELECT b.kind, b.id, b.place, b.g, b.n1, b.n2, b.last_ri, b.begin_ns, b.gap_ns, b.bound_ns
FROM straggler_second_bounds AS b JOIN straggler_second_candidates AS c ON b.kind = c.kind AND b.id = c.id;

-- The gaps of the ranks that came last, numbered from 1.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_gaps AS
SELECT ROW_NUMBER() OVER (ORDER BY g, n1, n2) AS gap, ri, g, n1, n2, begin_ns, gap_ns
FROM (SELECT DISTINCT last_ri AS ri, g, n1, n2, begin_ns, gap_ns FROM straggler_late WHERE gap_ns > 0) AS gaps;

-- Their spans. They are kept, so that the join with all matches holds them in memory and not the matches.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_late_spans AS
SELECT s.ri, s.g, s.n1, s.n2, s.start_ns + s.duration_ns AS end_ns, s.duration_ns
FROM job_keyed_spans AS s JOIN (SELECT DISTINCT ri FROM straggler_gaps) AS l ON s.ri = l.ri;

-- Where their waits end, and both ends of their gaps. `mark` is 0 for a wait, else 2 * gap - 1 or 2 * gap: of waits that
-- end at the begin of a gap and that gap, the waits come first, so the gap does not contain them.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_points AS
SELECT s.ri, s.g, s.end_ns AS time_ns, CAST(0 AS BIGINT) AS mark, s.duration_ns - m.transfer_ns AS wait_ns,
  COALESCE(a.host_set, -1) = COALESCE(b.host_set, -2) AS same_host,
  COALESCE(a.stage_set, -1) = COALESCE(b.stage_set, -2) AS same_stage
FROM straggler_late_spans AS s
  JOIN job_matches AS m ON s.g = m.g AND s.n1 = m.n1 AND s.n2 = m.n2
  JOIN job_rank_sets AS a ON s.ri = a.ri
  JOIN job_rank_sets AS b ON m.last_ri = b.ri
WHERE m.is_synchronising AND s.duration_ns > m.transfer_ns
UNION ALL
SELECT ri, g, begin_ns - gap_ns, 2 * gap - 1, 0, TRUE, TRUE FROM straggler_gaps
UNION ALL
SELECT ri, g, begin_ns, 2 * gap, 0, TRUE, TRUE FROM straggler_gaps;

-- Running sums of these waits, at the gaps: in all groups, and in the gap's own. One after the other, since each sorts
-- all waits.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_waits_in_all AS
SELECT mark, sum_0, sum_1, sum_2
FROM (
  SELECT mark, SUM(wait_ns) OVER until_here AS sum_0,
    SUM(CASE WHEN same_host THEN 0 ELSE wait_ns END) OVER until_here AS sum_1,
    SUM(CASE WHEN same_stage THEN 0 ELSE wait_ns END) OVER until_here AS sum_2
  FROM straggler_points
  WINDOW until_here AS (PARTITION BY ri ORDER BY time_ns, mark ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
) AS running
WHERE mark > 0;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_waits_in_own AS
SELECT mark, sum_0, sum_1, sum_2
FROM (
  SELECT mark, SUM(wait_ns) OVER until_here AS sum_0,
    SUM(CASE WHEN same_host THEN 0 ELSE wait_ns END) OVER until_here AS sum_1,
    SUM(CASE WHEN same_stage THEN 0 ELSE wait_ns END) OVER until_here AS sum_2
  FROM straggler_points
  WINDOW until_here AS (PARTITION BY ri, g ORDER BY time_ns, mark ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
) AS running
WHERE mark > 0;

-- The waits within each gap: the sum at its end less that at its begin.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_inherited AS
WITH others AS (
  SELECT a.mark, a.sum_0 - o.sum_0 AS sum_0, a.sum_1 - o.sum_1 AS sum_1, a.sum_2 - o.sum_2 AS sum_2
  FROM straggler_waits_in_all AS a JOIN straggler_waits_in_own AS o ON a.mark = o.mark
)
SELECT p.g, p.n1, p.n2, CAST(e.sum_0 - b.sum_0 AS BIGINT) AS inherited_0_ns,
  CAST(e.sum_1 - b.sum_1 AS BIGINT) AS inherited_1_ns, CAST(e.sum_2 - b.sum_2 AS BIGINT) AS inherited_2_ns
FROM straggler_gaps AS p
  JOIN others AS b ON b.mark = 2 * p.gap - 1
  JOIN others AS e ON e.mark = 2 * p.gap;

-- caused(S, c), where it is above 0.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_caused AS
WITH caused AS (
  SELECT s.kind, s.id, s.place, s.g, s.n1, s.n2, s.last_ri,
    s.bound_ns - COALESCE(
      CASE s.kind WHEN 0 THEN i.inherited_0_ns WHEN 1 THEN i.inherited_1_ns ELSE i.inherited_2_ns END, 0) AS caused_ns
  FROM straggler_late AS s LEFT JOIN straggler_inherited AS i ON s.g = i.g AND s.n1 = i.n1 AND s.n2 = i.n2
)
SELECT kind, id, place, g, n1, n2, last_ri, caused_ns FROM caused WHERE caused_ns > 0;
