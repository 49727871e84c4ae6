-- When is most memory in use?
-- SPDX-License-Identifier: Apache-2.0
SELECT device_type, device, max(total_allocated) AS peak_bytes, arg_max(time, total_allocated) AS time_ns
FROM allocations WHERE total_allocated IS NOT NULL
GROUP BY device_type, device ORDER BY peak_bytes DESC
