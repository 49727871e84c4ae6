-- How long does a kernel wait after its launch?
-- SPDX-License-Identifier: Apache-2.0
WITH placed AS (
  SELECT spans.*, rank FROM spans JOIN tracks ON tracks.row = track JOIN processes ON processes.row = process)
SELECT kernel.name, quantile_disc(kernel.start - call.start, 0.5) AS p50_ns, max(kernel.start - call.start) AS max_ns
FROM placed AS kernel
JOIN placed AS call ON call.correlation = kernel.correlation AND call.rank IS NOT DISTINCT FROM kernel.rank
WHERE kernel.kind = 2 AND call.kind IN (7, 8)
GROUP BY kernel.name ORDER BY max_ns DESC LIMIT 20
