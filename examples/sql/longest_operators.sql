-- Which operators take the most time?
-- SPDX-License-Identifier: Apache-2.0
SELECT name, count(*) AS calls, sum(duration) AS total_ns, quantile_disc(duration, 0.5) AS p50_ns,
       quantile_disc(duration, 0.99) AS p99_ns
FROM spans WHERE category = 'cpu_op'
GROUP BY name ORDER BY total_ns DESC LIMIT 20
