-- The `groups` of `opscope collectives`: the collectives of equal group, kind and elements, summed up (1.4), ordered.
--
-- Example: two all-reduces of 5 elements with transfers of 50 and 70: count 2, transfer_p50_ns 50.
-- SPDX-License-Identifier: Apache-2.0
-- @include waiting.sql

SELECT g.group_key, c.kind, c.elements, COUNT(*) AS count,
  CAST(PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY c.transfer_ns) AS BIGINT) AS transfer_p50_ns,
  CAST(SUM(c.wait_ns) AS BIGINT) AS wait_ns, MAX(c.skew_ns) AS skew_max_ns
FROM job_collectives AS c JOIN job_groups AS g ON c.g = g.g
GROUP BY g.group_key, c.kind, c.elements
ORDER BY g.group_key, c.kind, c.elements;
