-- The problems of a whole job that need no clocks (docs/reference/job.md): files that do not fit together, ranks without
-- a file, several attempts. Rows as in problems.sql, which has the others, too.
--
-- Example: world size 4, files of ranks 0, 1 and 3: one row (rank_missing, data_loss, NULL, 2).
-- SPDX-License-Identifier: Apache-2.0
-- @include files.sql

CREATE OR REPLACE TEMPORARY VIEW job_digits AS
SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS t(n);

-- The ranks below the world size, up to a million.
CREATE OR REPLACE TEMPORARY VIEW job_expected_ranks AS
SELECT n.rank
FROM (
  SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n + 100000 * f.n AS rank, size.job_size
  FROM (SELECT COALESCE(MAX(job_size), 0) AS job_size FROM job_judged_files) AS size
    JOIN job_digits AS f ON 100000 * f.n < size.job_size
    JOIN job_digits AS e ON 100000 * f.n + 10000 * e.n < size.job_size
    JOIN job_digits AS d ON 100000 * f.n + 10000 * e.n + 1000 * d.n < size.job_size
    CROSS JOIN job_digits AS c CROSS JOIN job_digits AS b CROSS JOIN job_digits AS a
) AS n
WHERE n.rank < n.job_size;

CREATE OR REPLACE TEMPORARY VIEW job_file_problems AS
SELECT fault AS kind, 'data_loss' AS severity, file, rank, sha256 FROM job_judged_files WHERE fault IS NOT NULL
UNION ALL
SELECT 'rank_missing', 'data_loss', NULL, e.rank, NULL
FROM job_expected_ranks AS e LEFT JOIN job_ranks AS r ON e.rank = r.rank
WHERE r.rank IS NULL
UNION ALL
SELECT 'several_attempts', 'info', NULL, NULL, NULL
FROM (SELECT MIN(attempt) AS first_one, MAX(attempt) AS last_one FROM ranks) AS attempts
WHERE first_one < last_one;

SELECT kind, severity, file, rank
FROM job_file_problems
ORDER BY kind, file NULLS LAST, rank NULLS LAST, sha256 NULLS LAST;
