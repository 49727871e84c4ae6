-- Which steps are slow?
-- SPDX-License-Identifier: Apache-2.0
SELECT number, duration AS duration_ns, round(duration / median(duration) OVER (), 2) AS times_median
FROM steps JOIN spans ON spans.row = steps.span
ORDER BY duration DESC LIMIT 10
