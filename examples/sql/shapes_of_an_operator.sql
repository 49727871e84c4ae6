-- With which shapes is an operator called?
-- SPDX-License-Identifier: Apache-2.0
WITH shapes AS (
  SELECT list, string_agg(sizes::VARCHAR, ' ' ORDER BY position) AS shapes
  FROM arguments WHERE kind = 1 GROUP BY list)
SELECT shapes, count(*) AS calls, sum(duration) AS total_ns
FROM spans JOIN shapes ON shapes.list = spans.args
WHERE name = 'aten::addmm'
GROUP BY shapes ORDER BY total_ns DESC
