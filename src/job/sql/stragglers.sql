-- The `rows` of `opscope stragglers` (docs/reference/job_analyses.md), ordered. What a set caused is in straggler_sets.sql.
--
-- Example (us): the mean step is 1000; in each step rank 2 causes 99 in one all-reduce. 99 >= 20, so each step is a hit:
-- rank 2 is persistent, its share 0.099. Its gap has 100 more compute than the median of the others: `compute`.
--
-- Choices: A step in which a set caused nothing is never a hit, even if the mean step is 0. Of equal sums the first
-- part in the order of `steps` is the cause. Sets that an earlier comparison left out do not count in later ones.
-- Rows of equal caused time and first rank: rank, host, stage, then by name.
-- SPDX-License-Identifier: Apache-2.0
-- @include straggler_sets.sql

-- The sums of a step that need no look at its members: all collectives of one group in which all its ranks take part.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_sums AS
SELECT c.kind, c.id, c.place, CAST(SUM(c.caused_ns) AS BIGINT) AS caused_ns,
  COUNT(*) = 1 OR (MIN(c.g) = MAX(c.g) AND MIN(CASE WHEN m.seen = g.ranks THEN 1 ELSE 0 END) = 1) AS is_simple
FROM straggler_caused AS c
  JOIN job_matches AS m ON c.g = m.g AND c.n1 = m.n1 AND c.n2 = m.n2
  JOIN job_groups AS g ON c.g = g.g
GROUP BY c.kind, c.id, c.place;

-- caused(S, step): the rank outside that waited most. Collectives in which all ranks of their group take part are summed
-- by group first, so that their spans need not be read again.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_steps AS
WITH complex AS (
  SELECT c.kind, c.id, c.place, c.g, c.n1, c.n2, c.caused_ns, m.seen = g.ranks AS is_full
  FROM straggler_caused AS c
    JOIN straggler_sums AS u ON c.kind = u.kind AND c.id = u.id AND c.place = u.place
    JOIN job_matches AS m ON c.g = m.g AND c.n1 = m.n1 AND c.n2 = m.n2
    JOIN job_groups AS g ON c.g = g.g
  WHERE NOT u.is_simple
),
full_sums AS (
  SELECT kind, id, place, g, SUM(caused_ns) AS caused_ns FROM complex WHERE is_full GROUP BY kind, id, place, g
),
amounts AS (
  SELECT f.kind, f.id, f.place, m.ri, f.caused_ns FROM full_sums AS f JOIN job_group_members AS m ON f.g = m.g
  UNION ALL
  SELECT c.kind, c.id, c.place, s.ri, c.caused_ns
  FROM complex AS c JOIN job_keyed_spans AS s ON c.g = s.g AND c.n1 = s.n1 AND c.n2 = s.n2
  WHERE NOT c.is_full
),
of_ranks AS (
  SELECT a.kind, a.id, a.place, a.ri, CAST(SUM(a.caused_ns) AS BIGINT) AS caused_ns
  FROM amounts AS a JOIN job_rank_sets AS r ON a.ri = r.ri
  WHERE a.id <> CASE a.kind WHEN 0 THEN r.ri WHEN 1 THEN COALESCE(r.host_set, -1) ELSE COALESCE(r.stage_set, -1) END
  GROUP BY a.kind, a.id, a.place, a.ri
)
SELECT kind, id, place, caused_ns FROM straggler_sums WHERE is_simple
UNION ALL
SELECT kind, id, place, MAX(caused_ns) AS caused_ns FROM of_ranks GROUP BY kind, id, place;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_hits AS
SELECT s.kind, s.id, s.place, s.caused_ns,
  ROW_NUMBER() OVER (PARTITION BY s.kind, s.id ORDER BY s.caused_ns DESC, s.place) AS size_place,
  s.place - ROW_NUMBER() OVER (PARTITION BY s.kind, s.id ORDER BY s.place) AS run
FROM straggler_steps AS s CROSS JOIN job_length AS l
WHERE 50 * s.caused_ns >= l.mean_step_ns;

-- All stragglers, nested ones too.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_all AS
WITH runs AS (
  SELECT kind, id, COUNT(*) AS length, MIN(place) AS first_place, MAX(place) AS last_place
  FROM straggler_hits
  GROUP BY kind, id, run
),
ordered AS (
  SELECT runs.*, ROW_NUMBER() OVER (PARTITION BY kind, id ORDER BY length DESC, first_place) AS run_place FROM runs
),
sets AS (
  SELECT kind, id, CAST(SUM(length) AS BIGINT) AS hits, MIN(first_place) AS first_place, MAX(last_place) AS last_place,
    MAX(length) AS longest, MAX(CASE WHEN run_place = 1 THEN first_place END) AS run_begin,
    MAX(CASE WHEN run_place = 1 THEN last_place END) AS run_end
  FROM ordered
  GROUP BY kind, id
),
totals AS (
  SELECT kind, id, CAST(SUM(caused_ns) AS BIGINT) AS caused_ns FROM straggler_steps GROUP BY kind, id
),
hit_totals AS (
  SELECT kind, id, CAST(SUM(caused_ns) AS BIGINT) AS hit_ns, COUNT(*) AS n FROM straggler_hits GROUP BY kind, id
),
means AS (
  SELECT kind, id, hit_ns, n, CAST(FLOOR(hit_ns / n) AS BIGINT) AS about FROM hit_totals
)
SELECT s.kind, s.id, s.hits, 2 * s.hits >= l.steps AS is_persistent, t.caused_ns, l.mean_step_ns,
  CASE WHEN 2 * s.hits >= l.steps THEN s.first_place ELSE s.run_begin END AS first_place,
  CASE WHEN 2 * s.hits >= l.steps THEN s.last_place ELSE s.run_end END AS last_place,
  m.about + CAST(FLOOR((m.hit_ns - m.about * m.n) / m.n) AS BIGINT) AS caused_per_step_ns
FROM sets AS s
  CROSS JOIN job_length AS l
  JOIN totals AS t ON s.kind = t.kind AND s.id = t.id
  JOIN means AS m ON s.kind = m.kind AND s.id = m.id
WHERE 2 * s.hits >= l.steps OR s.longest >= 3;

-- Which set is nested in which: hosts in stages, ranks in stages, ranks in hosts.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_nesting AS
SELECT 2 AS larger_kind, MAX(stage_set) AS larger_id, 1 AS smaller_kind, host_set AS smaller_id
FROM job_rank_sets
WHERE host_set IS NOT NULL
GROUP BY host_set
HAVING COUNT(stage_set) = COUNT(*) AND MIN(stage_set) = MAX(stage_set)
UNION ALL
SELECT 2, stage_set, 0, ri FROM job_rank_sets WHERE stage_set IS NOT NULL
UNION ALL
SELECT 1, host_set, 0, ri FROM job_rank_sets WHERE host_set IS NOT NULL;

-- What each of the three comparisons leaves out. The next one does without it.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_without_hosts AS
WITH pairs AS (
  SELECT n.larger_kind, n.larger_id, n.smaller_kind, n.smaller_id, l.caused_ns, s.caused_ns AS smaller_ns
  FROM straggler_nesting AS n
    JOIN straggler_all AS l ON n.larger_kind = l.kind AND n.larger_id = l.id
    LEFT JOIN straggler_all AS s ON n.smaller_kind = s.kind AND n.smaller_id = s.id
  WHERE n.larger_kind = 2 AND n.smaller_kind = 1
),
verdicts AS (
  SELECT larger_kind, larger_id, COUNT(smaller_ns) >= 2 AND 2 * COUNT(smaller_ns) >= COUNT(*) AS drops_smaller,
    COALESCE(2 * MAX(smaller_ns) >= MAX(caused_ns), FALSE) AS drops_larger
  FROM pairs
  GROUP BY larger_kind, larger_id
),
dropped AS (
  SELECT larger_kind AS kind, larger_id AS id FROM verdicts WHERE drops_larger AND NOT drops_smaller
  UNION ALL
  SELECT p.smaller_kind, p.smaller_id
  FROM pairs AS p JOIN verdicts AS v ON p.larger_kind = v.larger_kind AND p.larger_id = v.larger_id
  WHERE v.drops_smaller
)
SELECT a.kind, a.id, a.caused_ns
FROM straggler_all AS a LEFT JOIN dropped AS d ON a.kind = d.kind AND a.id = d.id
WHERE d.id IS NULL;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_without_stages AS
WITH pairs AS (
  SELECT n.larger_kind, n.larger_id, n.smaller_kind, n.smaller_id, l.caused_ns, s.caused_ns AS smaller_ns
  FROM straggler_nesting AS n
    JOIN straggler_without_hosts AS l ON n.larger_kind = l.kind AND n.larger_id = l.id
    LEFT JOIN straggler_without_hosts AS s ON n.smaller_kind = s.kind AND n.smaller_id = s.id
  WHERE n.larger_kind = 2 AND n.smaller_kind = 0
),
verdicts AS (
  SELECT larger_kind, larger_id, COUNT(smaller_ns) >= 2 AND 2 * COUNT(smaller_ns) >= COUNT(*) AS drops_smaller,
    COALESCE(2 * MAX(smaller_ns) >= MAX(caused_ns), FALSE) AS drops_larger
  FROM pairs
  GROUP BY larger_kind, larger_id
),
dropped AS (
  SELECT larger_kind AS kind, larger_id AS id FROM verdicts WHERE drops_larger AND NOT drops_smaller
  UNION ALL
  SELECT p.smaller_kind, p.smaller_id
  FROM pairs AS p JOIN verdicts AS v ON p.larger_kind = v.larger_kind AND p.larger_id = v.larger_id
  WHERE v.drops_smaller
)
SELECT a.kind, a.id, a.caused_ns
FROM straggler_without_hosts AS a LEFT JOIN dropped AS d ON a.kind = d.kind AND a.id = d.id
WHERE d.id IS NULL;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_found AS
WITH pairs AS (
  SELECT n.larger_kind, n.larger_id, n.smaller_kind, n.smaller_id, l.caused_ns, s.caused_ns AS smaller_ns
  FROM straggler_nesting AS n
    JOIN straggler_without_stages AS l ON n.larger_kind = l.kind AND n.larger_id = l.id
    LEFT JOIN straggler_without_stages AS s ON n.smaller_kind = s.kind AND n.smaller_id = s.id
  WHERE n.larger_kind = 1 AND n.smaller_kind = 0
),
verdicts AS (
  SELECT larger_kind, larger_id, COUNT(smaller_ns) >= 2 AND 2 * COUNT(smaller_ns) >= COUNT(*) AS drops_smaller,
    COALESCE(2 * MAX(smaller_ns) >= MAX(caused_ns), FALSE) AS drops_larger
  FROM pairs
  GROUP BY larger_kind, larger_id
),
dropped AS (
  SELECT larger_kind AS kind, larger_id AS id FROM verdicts WHERE drops_larger AND NOT drops_smaller
  UNION ALL
  SELECT p.smaller_kind, p.smaller_id
  FROM pairs AS p JOIN verdicts AS v ON p.larger_kind = v.larger_kind AND p.larger_id = v.larger_id
  WHERE v.drops_smaller
)
SELECT a.kind, a.id
FROM straggler_without_stages AS a LEFT JOIN dropped AS d ON a.kind = d.kind AND a.id = d.id
WHERE d.id IS NULL;

-- The collectives of the three largest hits of each straggler.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_examples AS
SELECT c.kind, c.id, c.g, c.n1, c.n2, c.last_ri, m.seen = g.ranks AS is_full
FROM straggler_found AS f
  JOIN straggler_hits AS h ON f.kind = h.kind AND f.id = h.id
  JOIN straggler_caused AS c ON h.kind = c.kind AND h.id = c.id AND h.place = c.place
  JOIN job_matches AS m ON c.g = m.g AND c.n1 = m.n1 AND c.n2 = m.n2
  JOIN job_groups AS g ON c.g = g.g
WHERE h.size_place <= 3;

-- Per part: the gaps of the last ranks less the medians of the gaps outside.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW straggler_parts AS
WITH gaps AS (
  SELECT c.kind, c.id, c.g, c.n1, c.n2, s.ri = c.last_ri AS is_last,
    c.id <> CASE c.kind WHEN 0 THEN r.ri WHEN 1 THEN COALESCE(r.host_set, -1) ELSE COALESCE(r.stage_set, -1) END
      AS is_outside,
    s.compute_gap_ns, s.communication_gap_ns, s.copy_gap_ns, s.input_gap_ns, s.host_gap_ns, s.other_gap_ns,
    s.idle_gap_ns
  FROM straggler_examples AS c
    JOIN job_keyed_spans AS s ON c.g = s.g AND c.n1 = s.n1 AND c.n2 = s.n2
    JOIN job_rank_sets AS r ON s.ri = r.ri
),
medians AS (
  SELECT kind, id,
    PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY CASE WHEN is_outside THEN compute_gap_ns END) AS compute_median,
    MAX(CASE WHEN is_last THEN compute_gap_ns END) AS compute_last,
    PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY CASE WHEN is_outside THEN communication_gap_ns END) AS communication_median,
    MAX(CASE WHEN is_last THEN communication_gap_ns END) AS communication_last,
    PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY CASE WHEN is_outside THEN copy_gap_ns END) AS copy_median,
    MAX(CASE WHEN is_last THEN copy_gap_ns END) AS copy_last,
    PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY CASE WHEN is_outside THEN input_gap_ns END) AS input_median,
    MAX(CASE WHEN is_last THEN input_gap_ns END) AS input_last,
    PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY CASE WHEN is_outside THEN host_gap_ns END) AS host_median,
    MAX(CASE WHEN is_last THEN host_gap_ns END) AS host_last,
    PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY CASE WHEN is_outside THEN other_gap_ns END) AS other_median,
    MAX(CASE WHEN is_last THEN other_gap_ns END) AS other_last,
    PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY CASE WHEN is_outside THEN idle_gap_ns END) AS idle_median,
    MAX(CASE WHEN is_last THEN idle_gap_ns END) AS idle_last
  FROM gaps
  GROUP BY kind, id, g, n1, n2
)
SELECT kind, id,
  CAST(SUM(compute_last - compute_median) AS BIGINT) AS compute_ns,
  CAST(SUM(communication_last - communication_median) AS BIGINT) AS communication_ns,
  CAST(SUM(copy_last - copy_median) AS BIGINT) AS copy_ns,
  CAST(SUM(input_last - input_median) AS BIGINT) AS input_ns,
  CAST(SUM(host_last - host_median) AS BIGINT) AS host_ns,
  CAST(SUM(other_last - other_median) AS BIGINT) AS other_ns,
  CAST(SUM(idle_last - idle_median) AS BIGINT) AS idle_ns
FROM medians
GROUP BY kind, id;

WITH sets AS (
  SELECT f.kind, f.id, ARRAY_SORT(ARRAY_AGG(r.rank)) AS ranks, MIN(r.rank) AS first_rank, MIN(r.host) AS host
  FROM straggler_found AS f
    JOIN job_rank_sets AS r ON f.id = CASE f.kind WHEN 0 THEN r.ri WHEN 1 THEN r.host_set ELSE r.stage_set END
  GROUP BY f.kind, f.id
),
members AS (
  SELECT e.kind, e.id, m.ri
  FROM (SELECT DISTINCT kind, id, g FROM straggler_examples WHERE is_full) AS e JOIN job_group_members AS m ON e.g = m.g
  UNION ALL
  SELECT e.kind, e.id, s.ri
  FROM straggler_examples AS e JOIN job_keyed_spans AS s ON e.g = s.g AND e.n1 = s.n1 AND e.n2 = s.n2
  WHERE NOT e.is_full
),
compared AS (
  SELECT m.kind, m.id, COUNT(DISTINCT m.ri) AS peers
  FROM members AS m JOIN job_rank_sets AS r ON m.ri = r.ri
  WHERE m.id <> CASE m.kind WHEN 0 THEN r.ri WHEN 1 THEN COALESCE(r.host_set, -1) ELSE COALESCE(r.stage_set, -1) END
  GROUP BY m.kind, m.id
),
largest AS (
  SELECT p.*, GREATEST(compute_ns, communication_ns, copy_ns, input_ns, host_ns, other_ns, idle_ns) AS largest_ns
  FROM straggler_parts AS p
)
SELECT CASE s.kind WHEN 0 THEN 'rank' WHEN 1 THEN 'host' ELSE 'stage' END AS set_kind,
  CASE s.kind WHEN 0 THEN CAST(s.first_rank AS STRING) WHEN 1 THEN s.host ELSE CAST(s.id AS STRING) END AS name,
  s.ranks, CASE WHEN a.is_persistent THEN 'persistent' ELSE 'transient' END AS behavior,
  CASE WHEN COALESCE(p.largest_ns, 0) <= 0 THEN 'unknown' WHEN p.largest_ns = p.compute_ns THEN 'compute'
    WHEN p.largest_ns = p.communication_ns THEN 'communication' WHEN p.largest_ns = p.copy_ns THEN 'copy'
    WHEN p.largest_ns = p.input_ns THEN 'input' WHEN p.largest_ns = p.host_ns THEN 'host'
    WHEN p.largest_ns = p.other_ns THEN 'other' ELSE 'idle' END AS cause,
  a.caused_ns, a.caused_per_step_ns,
  CASE WHEN a.mean_step_ns > 0 THEN CAST(a.caused_per_step_ns AS DOUBLE) / a.mean_step_ns ELSE 0.0 END AS share,
  a.hits AS hit_steps, b.step AS first_step, e.step AS last_step, c.peers
FROM sets AS s
  JOIN straggler_all AS a ON s.kind = a.kind AND s.id = a.id
  JOIN largest AS p ON s.kind = p.kind AND s.id = p.id
  JOIN compared AS c ON s.kind = c.kind AND s.id = c.id
  JOIN job_step_places AS b ON a.first_place = b.place
  JOIN job_step_places AS e ON a.last_place = e.place
ORDER BY a.caused_ns DESC, s.first_rank, s.kind, name;
