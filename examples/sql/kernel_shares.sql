-- Which kernels take which share of the device's time?
-- SPDX-License-Identifier: Apache-2.0
SELECT name, count(*) AS calls, sum(duration) AS total_ns,
       round(100 * sum(duration) / sum(sum(duration)) OVER (), 1) AS percent
FROM spans WHERE category = 'kernel'
GROUP BY name ORDER BY total_ns DESC LIMIT 20
