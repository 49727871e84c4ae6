-- What takes longer in one step than in another?
-- SPDX-License-Identifier: Apache-2.0
WITH ranges AS (
  SELECT number, start AS first, start + duration AS behind FROM steps JOIN spans ON spans.row = steps.span)
SELECT name, coalesce(sum(duration) FILTER (number = 0), 0) AS step0_ns,
       coalesce(sum(duration) FILTER (number = 1), 0) AS step1_ns
FROM spans JOIN ranges ON start >= first AND start < behind
WHERE category = 'cpu_op'
GROUP BY name ORDER BY step1_ns - step0_ns DESC, name LIMIT 20
