-- The `rows` of `opscope steps JOB`: those that `collect` stored for each file that fits together with the others. A
-- begin counts from the earliest begin of the attempt, each on its rank's own clock. A file without spans has no begin.
--
-- Example: rank 0 began at 5 s and its step 0 at 6 s, rank 1 began at 4 s and its step 0 at 7 s: the step of rank 0
-- begins at 2 s, that of rank 1 at 3 s.
-- SPDX-License-Identifier: Apache-2.0
-- @include files.sql

WITH earliest AS (
  SELECT MIN(start_ns) AS epoch_ns FROM job_judged_files WHERE fault IS NULL AND spans > 0
)
SELECT s.rank, s.step, s.name,
  GREATEST(-2305843009213693952, LEAST(s.start_ns, 2305843009213693952)) - earliest.epoch_ns AS start_ns, s.duration_ns,
  s.compute_ns, s.communication_ns, s.copy_ns, s.input_ns, s.host_ns, s.other_ns, s.idle_ns
FROM steps AS s JOIN job_judged_files AS f ON s.file_id = f.file_id CROSS JOIN earliest
WHERE s.attempt = {{attempt}} AND f.fault IS NULL
ORDER BY s.rank, s.start_ns, s.step, s.file_id;
