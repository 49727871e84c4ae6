-- Where is a stream idle for long, and what comes then?
-- SPDX-License-Identifier: Apache-2.0
WITH work AS (
  SELECT track, name, start, start - max(start + duration) OVER (
           PARTITION BY track ORDER BY start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS idle_ns
  FROM spans WHERE category IN ('kernel', 'gpu_memcpy', 'gpu_memset'))
SELECT device, tid AS stream, idle_ns, work.name AS next_work
FROM work JOIN tracks ON tracks.row = work.track
WHERE idle_ns > 0
ORDER BY idle_ns DESC LIMIT 20
