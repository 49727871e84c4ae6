// The columns of each table. Every row says its attempt, its rank and, but for problems, the file it comes from.
// SPDX-License-Identifier: Apache-2.0
#include "job/job_tables.h"

namespace opscope {
namespace {

constexpr JobColumn kRanks[] = {
    {"attempt", "INTEGER"}, {"rank", "INTEGER"},         {"file_id", "BIGINT"},  {"world_size", "INTEGER"},
    {"stage", "INTEGER"},   {"host", "VARCHAR"},         {"boot", "VARCHAR"},    {"rank_from", "VARCHAR"},
    {"file", "VARCHAR"},    {"sha256", "VARCHAR"},       {"start_ns", "BIGINT"}, {"end_ns", "BIGINT"},
    {"spans", "BIGINT"},    {"wall_error_ns", "BIGINT"}, {"verdict", "INTEGER"}, {"reasons", "VARCHAR"},
};
constexpr JobColumn kSteps[] = {
    {"attempt", "INTEGER"},    {"rank", "INTEGER"},      {"file_id", "BIGINT"},
    {"step", "BIGINT"},        {"name", "VARCHAR"},      {"start_ns", "BIGINT"},
    {"duration_ns", "BIGINT"}, {"compute_ns", "BIGINT"}, {"communication_ns", "BIGINT"},
    {"copy_ns", "BIGINT"},     {"input_ns", "BIGINT"},   {"host_ns", "BIGINT"},
    {"other_ns", "BIGINT"},    {"idle_ns", "BIGINT"},
};
constexpr JobColumn kCollectives[] = {
    {"attempt", "INTEGER"},     {"rank", "INTEGER"},          {"file_id", "BIGINT"},
    {"group_id", "BIGINT"},     {"group_name", "VARCHAR"},    {"group_key", "VARCHAR"},
    {"group_size", "INTEGER"},  {"position", "BIGINT"},       {"members", "INTEGER[]"},
    {"kind", "VARCHAR"},        {"step", "BIGINT"},           {"elements", "BIGINT"},
    {"seq", "BIGINT"},          {"start_ns", "BIGINT"},       {"duration_ns", "BIGINT"},
    {"gap_ns", "BIGINT"},       {"compute_gap_ns", "BIGINT"}, {"communication_gap_ns", "BIGINT"},
    {"copy_gap_ns", "BIGINT"},  {"input_gap_ns", "BIGINT"},   {"host_gap_ns", "BIGINT"},
    {"other_gap_ns", "BIGINT"}, {"idle_gap_ns", "BIGINT"},
};
constexpr JobColumn kRankGroups[] = {
    {"attempt", "INTEGER"},   {"rank", "INTEGER"},        {"file_id", "BIGINT"},     {"group_id", "BIGINT"},
    {"group_key", "VARCHAR"}, {"group_name", "VARCHAR"},  {"group_size", "INTEGER"}, {"spans", "BIGINT"},
    {"with_seq", "BIGINT"},   {"distinct_seq", "BIGINT"}, {"first_seq", "BIGINT"},   {"last_seq", "BIGINT"},
};
constexpr JobColumn kSpans[] = {
    {"attempt", "INTEGER"}, {"rank", "INTEGER"},     {"file_id", "BIGINT"},  {"track", "VARCHAR"},
    {"name", "VARCHAR"},    {"category", "VARCHAR"}, {"start_ns", "BIGINT"}, {"duration_ns", "BIGINT"},
    {"self_ns", "BIGINT"},  {"step", "BIGINT"},
};
constexpr JobColumn kOpStats[] = {
    {"attempt", "INTEGER"}, {"rank", "INTEGER"}, {"file_id", "BIGINT"}, {"name", "VARCHAR"},
    {"bin", "INTEGER"},     {"count", "BIGINT"}, {"sum_ns", "BIGINT"},  {"max_ns", "BIGINT"},
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
