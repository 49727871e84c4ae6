-- The durations of the steps by ranks, in cells of {{ranks_per_cell}} ranks and {{steps_per_cell}} steps: of each cell
-- the (rank, step) that lasted longest in comparison with the median of its step. Ties: the lowest rank, then the first
-- step. A cell whose ranks lack its steps has no row. {{is_own}} 1: the durations without waiting.
--
-- Within a step, the longest duration is the longest in comparison, so 10 M durations are first reduced to a row per
-- step and row of cells. A duration is below 2^43 and `ri` below 2^20, so both fit into 64 bits.
--
-- Example: 2 x 2 ranks and steps in a cell; medians 10 and 100; rank 0 lasts 11 and 150, rank 1 lasts 14 and 100: the
-- cell has 4 durations and is that of rank 0 in the second step, because 150/100 > 14/10.
-- SPDX-License-Identifier: Apache-2.0
-- @include step_medians.sql

WITH chosen AS (
  SELECT CAST(FLOOR(s.ri / {{ranks_per_cell}}) AS INTEGER) AS y, s.ri, m.si,
    CASE WHEN {{is_own}} = 1 THEN s.own_ns ELSE s.duration_ns END AS duration_ns,
    CASE WHEN {{is_own}} = 1 THEN m.own_median_ns ELSE m.median_ns END AS median_ns
  FROM job_step_times AS s JOIN job_step_medians AS m ON s.step = m.step
),
longest AS (
  SELECT y, si, median_ns, COUNT(*) AS durations, MAX(duration_ns * 1048576 + (1048575 - ri)) AS packed
  FROM chosen
  GROUP BY y, si, median_ns
),
named AS (  -- what is left without the remainder has 43 digits, so the division is exact
  SELECT y, CAST(FLOOR(si / {{steps_per_cell}}) AS INTEGER) AS x, si, durations, GREATEST(median_ns, 1) AS median_ns,
    1048575 - packed % 1048576 AS ri, CAST((packed - packed % 1048576) / 1048576 AS BIGINT) AS duration_ns
  FROM longest
),
placed AS (
  SELECT y, x, si, ri, duration_ns, SUM(durations) OVER (PARTITION BY y, x) AS durations,
    ROW_NUMBER() OVER (
      PARTITION BY y, x ORDER BY CAST(duration_ns AS DOUBLE) / CAST(median_ns AS DOUBLE) DESC, ri, si
    ) AS place
  FROM named
)
SELECT y, x, CAST(durations AS BIGINT) AS durations, CAST(ri AS BIGINT) AS ri, CAST(si AS BIGINT) AS si, duration_ns
FROM placed
WHERE place = 1
ORDER BY y, x;
