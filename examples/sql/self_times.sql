-- Which operators take the most time of their own?
-- SPDX-License-Identifier: Apache-2.0
WITH inside AS (SELECT parent, sum(duration) AS inside_ns FROM spans WHERE parent IS NOT NULL GROUP BY parent)
SELECT name, sum(duration - coalesce(inside_ns, 0)) AS self_ns
FROM spans LEFT JOIN inside ON inside.parent = spans.row
WHERE category = 'cpu_op'
GROUP BY name ORDER BY self_ns DESC LIMIT 20
