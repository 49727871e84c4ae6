-- Input of the walk of critical-ranks (critical_ranks.h): the steps of all ranks, in any order.
-- SPDX-License-Identifier: Apache-2.0
-- @include job.sql

SELECT ri, step, start_ns, duration_ns FROM job_steps;
