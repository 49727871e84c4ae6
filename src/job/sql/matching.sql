-- Matches the spans of ranks to collectives (docs/reference/job_analyses.md), and gives `last` and `transfer_ns` (3.4).
--
--   job_matches      one row per collective, keyed by (g, n1, n2): by `seq` n1 is 0 and n2 the seq; by order n1 is
--                    the step (-2^62 outside all steps) and n2 the position in it
--   job_keyed_spans  the spans with that key, matched or not
--
-- The spans are grouped once, by `seq` where the group may have it, else by order. The sums of a collective decide:
--   - equal keys: the smallest and the largest key, a number of kind and elements, are equal;
--   - equal lists of a step: at each position there are as many spans as at position 0.
-- Groups whose `seq` proves wrong are grouped once more, by order; mostly there is none, and the scan is skipped.
--
-- Choices: A member is a rank that has spans of the group. Files of a rank do not overlap, so all spans of one file
-- come before those of the next; ranks with several files therefore continue to count positions in the next file.
--
-- Example: durations 150, 152, 50, 149 of ranks 0 to 3: transfer_ns is 50, the last is rank 2. Durations and ranks are
-- packed into one number, duration * 2^20 + ri, whose minimum is the last of lowest rank (up to 1,048,576 ranks).
-- SPDX-License-Identifier: Apache-2.0
-- @include job.sql

-- GREATEST and LEAST skip NULL and would turn an unknown gap into the largest one.
CREATE OR REPLACE TEMPORARY VIEW job_spans AS
SELECT f.ri, f.file_id, f.start_ns AS file_start_ns, f.is_one_of_many, c.group_id, c.seq,
  COALESCE(c.step, -4611686018427387904) AS in_step, c.position, c.elements, c.kind,
  CASE c.kind WHEN 'all_reduce' THEN 1 WHEN 'all_gather' THEN 2 WHEN 'reduce_scatter' THEN 3 WHEN 'all_to_all' THEN 4
    WHEN 'barrier' THEN 5 WHEN 'broadcast' THEN 6 WHEN 'reduce' THEN 7 WHEN 'gather' THEN 8 WHEN 'scatter' THEN 9
    ELSE 10 END AS kind_code,
  GREATEST(-2305843009213693952, LEAST(c.start_ns, 2305843009213693952)) AS start_ns,
  GREATEST(0, LEAST(c.duration_ns, 8796093022207)) AS duration_ns,
  CASE WHEN c.gap_ns IS NOT NULL THEN GREATEST(0, LEAST(c.gap_ns, 8796093022207)) END AS gap_ns, c.compute_gap_ns,
  c.communication_gap_ns, c.copy_gap_ns, c.input_gap_ns, c.host_gap_ns, c.other_gap_ns, c.idle_gap_ns
FROM collectives AS c JOIN job_files AS f ON c.file_id = f.file_id
WHERE c.attempt = {{attempt}};

-- How many spans of a group and step the earlier files of the rank have, where that is not 0.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_earlier_spans AS
WITH of_files AS (
  SELECT file_id, MIN(ri) AS ri, MIN(file_start_ns) AS file_start_ns, group_id, in_step, COUNT(*) AS spans
  FROM job_spans
  WHERE is_one_of_many
  GROUP BY file_id, group_id, in_step
),
running AS (
  SELECT file_id, group_id, in_step, CAST(SUM(spans) OVER (
      PARTITION BY ri, group_id, in_step ORDER BY file_start_ns, file_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS BIGINT) AS earlier
  FROM of_files
)
SELECT file_id, group_id, in_step, earlier FROM running WHERE earlier > 0;

CREATE OR REPLACE TEMPORARY VIEW job_numbered_spans AS
SELECT g.g, s.ri, s.in_step, s.duration_ns,
  s.kind_code + 16 * CASE WHEN s.kind_code IN (1, 2, 3, 6, 7)
    THEN GREATEST(0, LEAST(s.elements, 288230376151711743)) ELSE 0 END AS match_key,
  g.may_have_seq, s.seq, s.position + COALESCE(e.earlier, 0) AS position
FROM job_spans AS s
  JOIN job_groups AS g ON s.group_id = g.group_id
  LEFT JOIN job_earlier_spans AS e
    ON s.file_id = e.file_id AND s.group_id = e.group_id AND s.in_step = e.in_step;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_first_sums AS
WITH numbered AS (
  SELECT *, CASE WHEN may_have_seq THEN 0 ELSE in_step END AS n1,
    CASE WHEN may_have_seq THEN seq ELSE position END AS n2
  FROM job_numbered_spans
)
SELECT g, n1, n2, CAST(COUNT(*) AS INTEGER) AS seen, MIN_BY(in_step, ri) AS in_step,
  MIN(duration_ns * 1048576 + ri) AS shortest, MAX(duration_ns) AS longest_ns,
  CAST(MIN(match_key) % 16 AS INTEGER) AS kind_code, MIN(match_key) = MAX(match_key) AS has_one_key
FROM numbered
GROUP BY g, n1, n2;

-- Groups with conditions 3 and 4 too. Members that begin or end inside the common range are counted.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_seq_groups AS
WITH groups AS (
  SELECT g, group_id, ranks, first_common, last_common FROM job_groups WHERE may_have_seq
),
sums AS (
  SELECT g.g, MIN(CASE WHEN s.has_one_key THEN 1 ELSE 0 END) AS has_keys,
    COUNT(CASE WHEN s.n2 BETWEEN g.first_common AND g.last_common THEN 1 END) AS numbers,
    MIN(CASE WHEN s.n2 BETWEEN g.first_common AND g.last_common THEN s.seen ELSE g.ranks END) AS least_seen
  FROM job_first_sums AS s JOIN groups AS g ON s.g = g.g
  GROUP BY g.g
),
doubtful AS (  -- in the common range at least one number is not on all members
  SELECT g.g, g.group_id, g.ranks, g.first_common, g.last_common, s.numbers
  FROM sums AS s JOIN groups AS g ON s.g = g.g
  WHERE s.has_keys = 1 AND s.least_seen < g.ranks
),
members AS (
  SELECT d.g, f.ri, COUNT(*) AS found
  FROM collectives AS c
    JOIN doubtful AS d ON c.group_id = d.group_id
    JOIN job_files AS f ON c.file_id = f.file_id
  WHERE c.attempt = {{attempt}} AND c.seq BETWEEN d.first_common AND d.last_common
  GROUP BY d.g, f.ri
),
least AS (
  SELECT d.g, CASE WHEN COUNT(m.ri) < MAX(d.ranks) THEN 0 ELSE MIN(m.found) END AS found
  FROM doubtful AS d LEFT JOIN members AS m ON d.g = m.g
  GROUP BY d.g
)
SELECT g.g, g.group_id
FROM sums AS s JOIN groups AS g ON s.g = g.g LEFT JOIN least AS l ON s.g = l.g
WHERE s.has_keys = 1 AND (l.g IS NULL OR 10 * l.found >= 9 * s.numbers);

-- All other groups.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_order_groups AS
SELECT g.g, g.group_id FROM job_groups AS g LEFT JOIN job_seq_groups AS s ON g.g = s.g WHERE s.g IS NULL;

-- Groups that job_first_sums took by `seq`, wrongly.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_misnumbered AS
SELECT g.g FROM job_groups AS g LEFT JOIN job_seq_groups AS s ON g.g = s.g
WHERE g.may_have_seq AND s.g IS NULL;

-- All sums of spans that may be a collective.
CREATE OR REPLACE TEMPORARY VIEW job_sums AS
SELECT s.g, s.n1, s.n2, s.seen, s.in_step, s.shortest, s.longest_ns, s.kind_code, s.has_one_key
FROM job_first_sums AS s LEFT JOIN job_misnumbered AS m ON s.g = m.g
WHERE m.g IS NULL
UNION ALL
SELECT s.g, s.in_step AS n1, s.position AS n2, CAST(COUNT(*) AS INTEGER) AS seen, s.in_step,
  MIN(s.duration_ns * 1048576 + s.ri) AS shortest, MAX(s.duration_ns) AS longest_ns,
  CAST(MIN(s.match_key) % 16 AS INTEGER) AS kind_code, MIN(s.match_key) = MAX(s.match_key) AS has_one_key
FROM job_numbered_spans AS s JOIN job_misnumbered AS m ON s.g = m.g
GROUP BY s.g, s.in_step, s.position;

-- Steps of groups that are matched by order and whose lists differ.
-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_unequal_steps AS
WITH by_order AS (
  SELECT s.g, s.n1, s.n2, s.seen, s.has_one_key
  FROM job_sums AS s LEFT JOIN job_seq_groups AS q ON s.g = q.g
  WHERE q.g IS NULL
)
SELECT g, n1
FROM by_order
GROUP BY g, n1
HAVING MIN(seen) < MAX(CASE WHEN n2 = 0 THEN seen ELSE 0 END) OR MIN(CASE WHEN has_one_key THEN 1 ELSE 0 END) = 0;

-- @materialise
CREATE OR REPLACE TEMPORARY VIEW job_matches AS
SELECT s.g, s.n1, s.n2, s.seen, s.in_step, s.kind_code <= 5 AS is_synchronising, q.g IS NOT NULL AS by_seq,
  CAST(s.shortest % 1048576 AS INTEGER) AS last_ri,
  CAST((s.shortest - s.shortest % 1048576) / 1048576 AS BIGINT) AS transfer_ns, s.longest_ns
FROM job_sums AS s
  LEFT JOIN job_seq_groups AS q ON s.g = q.g
  LEFT JOIN job_unequal_steps AS u ON s.g = u.g AND s.n1 = u.n1
WHERE s.seen >= 2 AND u.g IS NULL;

-- The spans with the key of what they may match. Most groups have `seq`; their branch joins least.
CREATE OR REPLACE TEMPORARY VIEW job_keyed_spans AS
SELECT q.g, CAST(0 AS BIGINT) AS n1, s.seq AS n2, s.ri, s.file_id, s.kind, s.elements, s.in_step, s.start_ns,
  s.duration_ns, s.gap_ns, s.compute_gap_ns, s.communication_gap_ns, s.copy_gap_ns, s.input_gap_ns, s.host_gap_ns,
  s.other_gap_ns, s.idle_gap_ns
FROM job_spans AS s JOIN job_seq_groups AS q ON s.group_id = q.group_id
UNION ALL
SELECT q.g, s.in_step AS n1, s.position + COALESCE(e.earlier, 0) AS n2, s.ri, s.file_id, s.kind, s.elements, s.in_step,
  s.start_ns, s.duration_ns, s.gap_ns, s.compute_gap_ns, s.communication_gap_ns, s.copy_gap_ns, s.input_gap_ns,
  s.host_gap_ns, s.other_gap_ns, s.idle_gap_ns
FROM job_spans AS s
  JOIN job_order_groups AS q ON s.group_id = q.group_id
  LEFT JOIN job_earlier_spans AS e
    ON s.file_id = e.file_id AND s.group_id = e.group_id AND s.in_step = e.in_step;
