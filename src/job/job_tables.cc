// The columns of each table. Every row says its attempt, its rank and, but for problems, the file it comes from.
// SPDX-License-Identifier: Apache-2.0
#include "job/job_tables.h"

namespace opscope {
namespace {

constexpr JobColumn kRanks[] = {
    {"attempt", "INTEGER"},       {"rank", "INTEGER"},
    {"file_id", "BIGINT", true},  {"world_size", "INTEGER"},
    {"stage", "INTEGER"},         {"host", "VARCHAR"},
    {"boot", "VARCHAR"},          {"rank_from", "VARCHAR"},
    {"file", "VARCHAR"},          {"sha256", "VARCHAR"},
    {"start_ns", "BIGINT"},       {"end_ns", "BIGINT"},
    {"spans", "BIGINT"},          {"wall_error_ns", "BIGINT", true},
    {"verdict", "INTEGER", true}, {"reasons", "VARCHAR", true},
};
constexpr JobColumn kSteps[] = {
    {"attempt", "INTEGER"},    {"rank", "INTEGER"},      {"file_id", "BIGINT", true},
    {"step", "BIGINT"},        {"name", "VARCHAR"},      {"start_ns", "BIGINT"},
    {"duration_ns", "BIGINT"}, {"compute_ns", "BIGINT"}, {"communication_ns", "BIGINT"},
    {"copy_ns", "BIGINT"},     {"input_ns", "BIGINT"},   {"host_ns", "BIGINT"},
    {"other_ns", "BIGINT"},    {"idle_ns", "BIGINT"},
};
constexpr JobColumn kCollectives[] = {
    {"attempt", "INTEGER"},
    {"rank", "INTEGER"},
    {"file_id", "BIGINT", true},
    {"group_id", "BIGINT", true},
    {"group_name", "VARCHAR"},
    {"group_key", "VARCHAR"},
    {"group_size", "INTEGER"},
    {"position", "BIGINT", true},
    {"members", "INTEGER[]"},
    {"kind", "VARCHAR"},
    {"step", "BIGINT"},
    {"elements", "BIGINT"},
    {"seq", "BIGINT"},
    {"start_ns", "BIGINT"},
    {"duration_ns", "BIGINT"},
    {"gap_ns", "BIGINT"},
    {"compute_gap_ns", "BIGINT"},
    {"communication_gap_ns", "BIGINT"},
    {"copy_gap_ns", "BIGINT"},
    {"input_gap_ns", "BIGINT"},
    {"host_gap_ns", "BIGINT"},
    {"other_gap_ns", "BIGINT"},
    {"idle_gap_ns", "BIGINT"},
};
constexpr JobColumn kRankGroups[] = {
    {"attempt", "INTEGER", true},     {"rank", "INTEGER", true},      {"file_id", "BIGINT", true},
    {"group_id", "BIGINT", true},     {"group_key", "VARCHAR", true}, {"group_name", "VARCHAR", true},
    {"group_size", "INTEGER", true},  {"spans", "BIGINT", true},      {"with_seq", "BIGINT", true},
    {"distinct_seq", "BIGINT", true}, {"first_seq", "BIGINT", true},  {"last_seq", "BIGINT", true},
};
constexpr JobColumn kSpans[] = {
    {"attempt", "INTEGER"}, {"rank", "INTEGER"},     {"file_id", "BIGINT", true}, {"track", "VARCHAR"},
    {"name", "VARCHAR"},    {"category", "VARCHAR"}, {"start_ns", "BIGINT"},      {"duration_ns", "BIGINT"},
    {"self_ns", "BIGINT"},  {"step", "BIGINT"},
};
constexpr JobColumn kOpStats[] = {
    {"attempt", "INTEGER"}, {"rank", "INTEGER"}, {"file_id", "BIGINT", true}, {"name", "VARCHAR"},
    {"bin", "INTEGER"},     {"count", "BIGINT"}, {"sum_ns", "BIGINT"},        {"max_ns", "BIGINT"},
};
constexpr JobColumn kProblems[] = {
    {"attempt", "INTEGER"},  {"rank", "INTEGER"},    {"file", "VARCHAR"}, {"kind", "VARCHAR"},
    {"severity", "VARCHAR"}, {"message", "VARCHAR"}, {"count", "BIGINT"}, {"first_offset", "BIGINT"},
};
constexpr JobTable kTables[] = {
    {"ranks", kRanks, "rank, start_ns"},
    {"steps", kSteps, "rank, start_ns"},
    {"collectives", kCollectives, "rank, start_ns"},
    {"rank_groups", kRankGroups, "rank, group_id"},
    {"spans", kSpans, "rank, track, start_ns"},
    {"op_stats", kOpStats, "rank, name, bin"},
    {"problems", kProblems, "rank"},
};

}  // namespace

std::span<const JobTable> JobTables() {
  return kTables;
}

}  // namespace opscope
