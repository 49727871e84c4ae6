-- How long does a kernel wait after its launch?
-- SPDX-License-Identifier: Apache-2.0
SELECT kernel.name, quantile_disc(kernel.start - call.start, 0.5) AS p50_ns, max(kernel.start - call.start) AS max_ns
FROM spans AS kernel
JOIN spans AS call ON call.correlation = kernel.correlation AND call.category = 'cuda_runtime'
WHERE kernel.category = 'kernel'
GROUP BY kernel.name ORDER BY max_ns DESC LIMIT 20
