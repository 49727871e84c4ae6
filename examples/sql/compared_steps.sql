-- What takes longer in one step than in another?
-- SPDX-License-Identifier: Apache-2.0
WITH placed AS (
  SELECT spans.*, rank FROM spans JOIN tracks ON tracks.row = track JOIN processes ON processes.row = process),
ranges AS (
  SELECT number, rank, start AS first, start + duration AS behind FROM steps JOIN placed ON placed.row = steps.span),
chosen AS (SELECT min(number) AS a, max(number) AS b FROM steps)
SELECT name, coalesce(sum(duration) FILTER (number = a), 0) AS a_ns,
       coalesce(sum(duration) FILTER (number = b), 0) AS b_ns
FROM placed JOIN ranges ON start >= first AND start < behind AND placed.rank IS NOT DISTINCT FROM ranges.rank, chosen
WHERE category = 'cpu_op'
GROUP BY name ORDER BY b_ns - a_ns DESC, name LIMIT 20
