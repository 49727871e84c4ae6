-- Which operators keep the device busy?
-- SPDX-License-Identifier: Apache-2.0
SELECT op.name, count(*) AS kernels, sum(kernel.duration) AS device_ns
FROM launches
JOIN spans AS kernel ON kernel.row = launches.span
JOIN spans AS op ON op.row = launches.launcher
WHERE kernel.category = 'kernel'
GROUP BY op.name ORDER BY device_ns DESC LIMIT 20
