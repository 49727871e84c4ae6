-- One row per collective with all its numbers (docs/reference/job_analyses.md), as `collectives` and `ranks` need them.
--
-- Example (us): durations 150, 152, 50 and 149 end within 3. transfer_ns is 50, the waits are 100, 102, 0 and 99. The
-- second smallest duration is 99 above the smallest, which is not less than 3, so last_rank is 2.
--
-- Choices: end_spread_ns is NULL if the clock of a member is unknown; clock_bound_ns if the bound of one is. Of equal
-- begins the lowest rank begins first, and last.
-- SPDX-License-Identifier: Apache-2.0
-- @include clocks.sql

-- The spans of all collectives on the common clock.
CREATE OR REPLACE TEMPORARY VIEW job_members AS
SELECT s.g, s.n1, s.n2, s.ri, m.is_synchronising, m.last_ri, m.transfer_ns, s.kind, s.elements, s.in_step, s.duration_ns,
  s.start_ns + w.offset_ns AS begin_ns, s.start_ns + s.duration_ns + w.offset_ns AS end_ns, w.bound_ns
FROM job_keyed_spans AS s
  JOIN job_matches AS m ON s.g = m.g AND s.n1 = m.n1 AND s.n2 = m.n2
  JOIN job_match_windows AS t ON s.g = t.g AND s.n1 = t.n1 AND s.n2 = t.n2
  JOIN job_clocks AS c ON s.ri = c.ri
  JOIN job_clock_windows AS w ON c.domain = w.domain AND t.clock_window = w.clock_window;

-- How far the begins of collectives that do not synchronise are apart, where the clocks can tell.
CREATE OR REPLACE TEMPORARY VIEW job_skews AS
WITH ordered AS (
  SELECT g, n1, n2, begin_ns, bound_ns,
    ROW_NUMBER() OVER (PARTITION BY g, n1, n2 ORDER BY begin_ns, ri) AS first_place,
    ROW_NUMBER() OVER (PARTITION BY g, n1, n2 ORDER BY begin_ns DESC, ri) AS last_place
  FROM job_members
  WHERE NOT is_synchronising
),
ends AS (
  SELECT g, n1, n2, MAX(begin_ns) - MIN(begin_ns) AS skew_ns, COUNT(*) = COUNT(begin_ns) AS is_aligned,
    MAX(CASE WHEN first_place = 1 THEN bound_ns END) + MAX(CASE WHEN last_place = 1 THEN bound_ns END) AS bounds_ns
  FROM ordered
  GROUP BY g, n1, n2
)
SELECT g, n1, n2, skew_ns FROM ends WHERE is_aligned AND skew_ns > bounds_ns;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_collectives AS
WITH sums AS (
  SELECT g, n1, n2, MIN_BY(kind, ri) AS kind, MIN_BY(elements, ri) AS elements,
    CAST(SUM(CASE WHEN is_synchronising THEN duration_ns - transfer_ns END) AS BIGINT) AS wait_ns,
    MIN(CASE WHEN ri <> last_ri THEN duration_ns END) AS second_ns,
    CASE WHEN COUNT(*) = COUNT(end_ns) THEN MAX(end_ns) - MIN(end_ns) END AS end_spread_ns,
    CASE WHEN COUNT(*) = COUNT(bound_ns) THEN MAX(bound_ns) END AS clock_bound_ns
  FROM job_members
  GROUP BY g, n1, n2
)
SELECT m.g, m.n1, m.n2, m.seen, m.by_seq, m.is_synchronising, s.kind, s.elements,
  CASE WHEN m.in_step > -4611686018427387904 THEN m.in_step END AS step,
  CASE WHEN m.by_seq THEN m.n2 ELSE ROW_NUMBER() OVER (PARTITION BY m.g ORDER BY m.n1, m.n2) - 1 END AS number,
  CASE WHEN m.is_synchronising THEN m.transfer_ns END AS transfer_ns, s.wait_ns,
  CASE WHEN m.is_synchronising THEN m.longest_ns - m.transfer_ns ELSE k.skew_ns END AS skew_ns,
  CASE WHEN m.is_synchronising AND s.second_ns - m.transfer_ns >= COALESCE(s.end_spread_ns, 0) THEN m.last_ri END
    AS last_ri,
  s.end_spread_ns, s.clock_bound_ns
FROM job_matches AS m
  JOIN sums AS s ON m.g = s.g AND m.n1 = s.n1 AND m.n2 = s.n2
  LEFT JOIN job_skews AS k ON m.g = k.g AND m.n1 = k.n1 AND m.n2 = k.n2;
