-- Clocks of ranks (docs/reference/job_analyses.md): collectives end on all members at once, so their ends tell the offsets.
--
--   job_clocks         rank (`ri`) and its domain; domains are named by their lowest `ri`, so 0 is the reference
--   job_clock_windows  domain and window: source, offset_ns, bound_ns, error_ns, for each window that has a collective
--   job_rank_clocks    what `ranks` shows
--
-- Aligning by begins is the simple way, and wrong: a rank that is slow begins late, so its clock looks wrong by as much
-- as it is slow.
--
-- Example (ns): two collectives with (E_ref, B_ref, E, B) = (1000, 940, 700, 630) and (2000, 1960, 1704, 1610). The
-- offset lies in [240, 370] and in [256, 390], so in [256, 370]: bound 57. E_ref - E is 300 and 296: estimate 296.
--
-- Choices: A rank with a boot id shares its clock with equal boot ids only. The first offset is that of the first
-- window whose interval is not empty; `none` is the source of a rank if all its windows are empty. If the reference
-- and the lowest rank's clock are both unknown, the collective's own time counts. A wall_error_ns of a domain is the
-- largest one of its files.
-- SPDX-License-Identifier: Apache-2.0
-- @include matching.sql

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_clocks AS
WITH named AS (
  SELECT ri, rank, wall_error_ns,
    CASE WHEN boot IS NOT NULL THEN CONCAT('boot ', boot)
      WHEN host IS NOT NULL AND host <> 'localhost' THEN CONCAT('host ', host)
      ELSE CONCAT('rank ', CAST(rank AS STRING)) END AS name
  FROM job_ranks
),
errors AS (
  SELECT ri, rank, MIN(ri) OVER (PARTITION BY name) AS domain, MAX(wall_error_ns) OVER (PARTITION BY name) AS error_ns
  FROM named
)
SELECT e.ri, e.rank, e.domain, e.error_ns + r.error_ns AS wall_bound_ns
FROM errors AS e JOIN errors AS r ON r.ri = 0;

-- The begin of the clock windows.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_origin AS
SELECT COALESCE((SELECT MIN(start_ns) FROM job_steps WHERE ri = 0), start_ns) AS origin_ns
FROM job_ranks
WHERE ri = 0;

-- The smallest end and the largest begin of each collective in each domain, and its lowest rank's end.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_edges AS
SELECT s.g, s.n1, s.n2, c.domain, MIN(s.start_ns + s.duration_ns) AS end_ns, MAX(s.start_ns) AS begin_ns,
  MIN(s.ri) AS lowest_ri, MIN_BY(s.start_ns + s.duration_ns, s.ri) AS lowest_end_ns
FROM job_keyed_spans AS s
  JOIN job_matches AS m ON s.g = m.g AND s.n1 = m.n1 AND s.n2 = m.n2
  JOIN job_clocks AS c ON s.ri = c.ri
GROUP BY s.g, s.n1, s.n2, c.domain;

-- The windows of the collectives in which the reference takes part. The quotient is rounded down, exactly.
CREATE OR REPLACE TEMPORARY VIEW job_reference_edges AS
WITH since AS (
  SELECT e.g, e.n1, e.n2, e.end_ns, e.begin_ns, e.end_ns - o.origin_ns AS since_ns
  FROM job_edges AS e CROSS JOIN job_origin AS o
  WHERE e.domain = 0
)
SELECT g, n1, n2, end_ns, begin_ns,
  CAST(ROUND((since_ns - since_ns % {{window_ns}}) / {{window_ns}}) AS BIGINT)
    - CASE WHEN since_ns % {{window_ns}} < 0 THEN 1 ELSE 0 END AS clock_window
FROM since;

-- The offsets of the windows that have collectives with the reference; NULL where no offset fits.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_offsets AS
WITH distances AS (
  SELECT e.domain, r.clock_window, r.end_ns - e.end_ns AS distance_ns, r.begin_ns - e.end_ns AS low_ns,
    r.end_ns - e.begin_ns AS high_ns
  FROM job_edges AS e
    JOIN job_reference_edges AS r ON e.g = r.g AND e.n1 = r.n1 AND e.n2 = r.n2
    JOIN job_matches AS m ON e.g = m.g AND e.n1 = m.n1 AND e.n2 = m.n2
  WHERE e.domain <> 0 AND m.is_synchronising
),
placed AS (
  SELECT distances.*, COUNT(*) OVER (PARTITION BY domain, clock_window) AS n,
    ROW_NUMBER() OVER (PARTITION BY domain, clock_window ORDER BY distance_ns) AS place
  FROM distances
),
intervals AS (
  SELECT domain, clock_window, MAX(low_ns) AS low_ns, MIN(high_ns) AS high_ns,
    MIN(CASE WHEN 2 * place >= n THEN distance_ns END) AS estimate_ns
  FROM placed
  GROUP BY domain, clock_window
),
deviations AS (
  SELECT d.domain, d.clock_window, ABS(d.distance_ns - i.estimate_ns) AS deviation_ns,
    COUNT(*) OVER (PARTITION BY d.domain, d.clock_window) AS n,
    ROW_NUMBER() OVER (PARTITION BY d.domain, d.clock_window ORDER BY ABS(d.distance_ns - i.estimate_ns)) AS place
  FROM distances AS d JOIN intervals AS i ON d.domain = i.domain AND d.clock_window = i.clock_window
),
errors AS (
  SELECT domain, clock_window, MIN(CASE WHEN 100 * place >= 99 * n THEN deviation_ns END) AS error_ns
  FROM deviations
  GROUP BY domain, clock_window
)
SELECT i.domain, i.clock_window,
  CASE WHEN low_ns > high_ns THEN NULL WHEN estimate_ns BETWEEN low_ns AND high_ns THEN estimate_ns
    ELSE low_ns + ((high_ns - low_ns) >> 1) END AS offset_ns,
  CASE WHEN low_ns <= high_ns THEN (high_ns - low_ns) >> 1 END AS bound_ns,
  CASE WHEN estimate_ns BETWEEN low_ns AND high_ns THEN error_ns END AS error_ns
FROM intervals AS i JOIN errors AS e ON i.domain = e.domain AND i.clock_window = e.clock_window;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_rank_clocks AS
WITH shown AS (
  SELECT domain, MIN_BY(offset_ns, clock_window) AS offset_ns, MAX(bound_ns) AS bound_ns, MAX(error_ns) AS error_ns
  FROM job_offsets
  WHERE offset_ns IS NOT NULL
  GROUP BY domain
),
attempted AS (
  SELECT domain, MAX(CASE WHEN offset_ns IS NULL THEN 1 ELSE 0 END) AS has_empty FROM job_offsets GROUP BY domain
)
SELECT c.ri, c.rank, c.domain,
  CASE WHEN c.domain = 0 THEN 'reference' WHEN s.domain IS NOT NULL THEN 'collectives'
    WHEN a.domain IS NOT NULL THEN 'none' ELSE 'wall_clock' END AS clock_source,
  CASE WHEN c.domain = 0 OR a.domain IS NULL THEN 0 ELSE s.offset_ns END AS clock_offset_ns,
  CASE WHEN c.domain = 0 THEN 0 WHEN a.domain IS NULL THEN c.wall_bound_ns ELSE s.bound_ns END AS clock_bound_ns,
  CASE WHEN c.domain = 0 THEN 0 ELSE s.error_ns END AS clock_error_ns, COALESCE(a.has_empty, 0) AS has_empty
FROM job_clocks AS c
  LEFT JOIN shown AS s ON c.domain = s.domain
  LEFT JOIN attempted AS a ON c.domain = a.domain;

-- The window of each collective.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_match_windows AS
WITH lowest AS (
  SELECT g, n1, n2, MIN_BY(lowest_end_ns, lowest_ri) AS end_ns, MIN(lowest_ri) AS ri
  FROM job_edges
  GROUP BY g, n1, n2
  HAVING MIN(domain) <> 0
),
since AS (
  SELECT l.g, l.n1, l.n2, l.end_ns + COALESCE(c.clock_offset_ns, 0) - o.origin_ns AS since_ns
  FROM lowest AS l JOIN job_rank_clocks AS c ON l.ri = c.ri CROSS JOIN job_origin AS o
)
SELECT g, n1, n2, clock_window FROM job_reference_edges
UNION ALL
SELECT g, n1, n2,
  CAST(ROUND((since_ns - since_ns % {{window_ns}}) / {{window_ns}}) AS BIGINT)
    - CASE WHEN since_ns % {{window_ns}} < 0 THEN 1 ELSE 0 END AS clock_window
FROM since;

-- Each domain in each window. A window without collectives takes the values of the one before, else of the first.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_clock_windows AS
WITH domains AS (
  SELECT domain, MIN(wall_bound_ns) AS wall_bound_ns FROM job_clocks GROUP BY domain
),
windows AS (
  SELECT DISTINCT clock_window FROM job_match_windows
),
firsts AS (
  SELECT domain, MIN(clock_window) AS first_window FROM job_offsets GROUP BY domain
),
sources AS (
  SELECT d.domain, d.wall_bound_ns, w.clock_window, f.first_window,
    MAX(o.clock_window) OVER (
      PARTITION BY d.domain ORDER BY w.clock_window ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS window_before
  FROM domains AS d CROSS JOIN windows AS w
    LEFT JOIN firsts AS f ON d.domain = f.domain
    LEFT JOIN job_offsets AS o ON d.domain = o.domain AND w.clock_window = o.clock_window
)
SELECT s.domain, s.clock_window,
  CASE WHEN s.domain = 0 OR s.first_window IS NULL THEN 0 ELSE o.offset_ns END AS offset_ns,
  CASE WHEN s.domain = 0 THEN 0 WHEN s.first_window IS NULL THEN s.wall_bound_ns ELSE o.bound_ns END AS bound_ns
FROM sources AS s
  LEFT JOIN job_offsets AS o
    ON s.domain = o.domain AND o.clock_window = COALESCE(s.window_before, s.first_window);
