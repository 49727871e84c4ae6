-- Problems that show only in a whole job (docs/reference/job_analyses.md): kind, severity, file (NULL if it is not about
-- one), rank. A problem without ranks has the rank NULL. Rows of equal kind and file are one problem with a list of
-- ranks.
--
-- Example: world size 4, files of ranks 0, 1 and 3: one row (rank_missing, data_loss, NULL, 2).
-- SPDX-License-Identifier: Apache-2.0
-- @include clocks.sql
-- @include file_problems.sql

SELECT kind, severity, file, rank
FROM (
  SELECT kind, severity, file, rank, sha256 FROM job_file_problems
  UNION ALL
  SELECT 'clock_not_aligned', 'info', NULL, rank, NULL FROM job_rank_clocks WHERE has_empty = 1
) AS found
ORDER BY kind, file NULLS LAST, rank NULLS LAST, sha256 NULLS LAST;
