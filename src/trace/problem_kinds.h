// The closed list of problems: kind, severity, the sentence that reports print. A new kind is a row here.
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "opscope/trace.h"

namespace opscope {

struct ProblemKind {
  std::string_view name;
  ProblemSeverity severity;
  std::string_view sentence;
};

// Each Build counts these anew, so RestoreProblem ignores them.
inline constexpr std::string_view kForeignIds = "foreign_ids";

inline constexpr ProblemKind kProblemKinds[] = {
    {"negative_duration", ProblemSeverity::kInfo, "negative durations were read as zero"},
    {"missing_duration", ProblemSeverity::kInfo, "complete events without a duration were read as zero"},
    {"no_times", ProblemSeverity::kInfo,
     "the input says no times; starts show the order of its rows, and lengths mean nothing"},
    {"missing_time", ProblemSeverity::kInfo, "events without a usable time were read at the first time of the trace"},
    {"crossing_spans", ProblemSeverity::kInfo,
     "spans cross the end of their parent; clipped for nesting and self time"},
    {kForeignIds, ProblemSeverity::kInfo,
     "spans of devices have the external id of another operator than the one that launched them; it was ignored"},
    {"unclosed_begin", ProblemSeverity::kInfo,
     "begin events without an end were closed at the last time of their track"},
    {"stray_end", ProblemSeverity::kInfo, "end events without a begin were dropped"},
    {"mismatched_end", ProblemSeverity::kInfo, "end events closed a begin event of another name"},
    {"unpaired_flow", ProblemSeverity::kInfo, "flow ends without their other end were dropped"},
    {"unpaired_async", ProblemSeverity::kInfo, "asynchronous ends without their other end were dropped"},
    {"bad_value", ProblemSeverity::kInfo, "values that are not what the format says were ignored"},
    {"lost_member", ProblemSeverity::kInfo, "members of events have no place in a Trace; they were left out"},
    {"bad_escape", ProblemSeverity::kInfo,
     "texts with escapes that JSON does not have were kept as they are written, backslash included"},
    {"unknown_event", ProblemSeverity::kInfo, "events of an unknown type were ignored"},
    {"faulty_event", ProblemSeverity::kDataLoss, "events that are not valid JSON were skipped"},
    {"stray_text", ProblemSeverity::kInfo, "stray text between the events was skipped"},
    {"truncated", ProblemSeverity::kDataLoss, "the input ends in the middle; everything before is kept"},
    {"syntax_error", ProblemSeverity::kDataLoss, "the input is damaged; everything before is kept"},
    {"input_shrank", ProblemSeverity::kDataLoss, "the file became shorter while it was read"},
    {"damaged_block", ProblemSeverity::kDataLoss, "blocks were damaged and left out"},
    {"names_lost", ProblemSeverity::kDataLoss,
     "texts stood in damaged blocks: rows that they named, described or sorted have none"},
    {"missing_chunk", ProblemSeverity::kDataLoss, "chunks of a thread are missing"},
    {"damaged_record", ProblemSeverity::kDataLoss, "records that contradict the format were left out"},
    {"dropped_at_cap", ProblemSeverity::kInfo,
     "records were dropped: at the memory cap, out of memory, or in a signal handler that interrupted the recorder"},
    {"source_failure", ProblemSeverity::kDataLoss,
     "ranges or arguments were not recorded: the framework raised an error over them, or was out of memory"},
    {"unnumbered_tensor", ProblemSeverity::kInfo,
     "tensor arguments are known by their storage alone: too many tensors lived at once"},
    {"calls_unseen", ProblemSeverity::kInfo,
     "threads were given another profile function while their calls were recorded; from there on they are missing"},
    {"idle_threads", ProblemSeverity::kInfo,
     "threads of Python called nothing while they were recorded; where they waited is not shown"},
    {"operators_elsewhere", ProblemSeverity::kInfo,
     "no operator ran on the threads that were recorded, while other threads of the process ran; profile_all_threads "
     "records the operators of all threads"},
    {"part_left_out", ProblemSeverity::kInfo,
     "parts of what was asked for were not recorded: they do not fit this framework; opscope doctor says which"},
    {"framework_file", ProblemSeverity::kInfo,
     "the file that the framework's own profiler writes was read in place of its records"},
    {"device_not_recorded", ProblemSeverity::kDataLoss, "CUDA was asked for and not recorded"},
    {"device_dropped", ProblemSeverity::kDataLoss, "records of devices were dropped: there was no room for them"},
    {"device_late", ProblemSeverity::kDataLoss,
     "records of devices, or buffers of them, came after the recording had ended, or never"},
    {"device_incomplete", ProblemSeverity::kDataLoss,
     "works of devices, or host nodes of graphs, have no start or no end; they were left out"},
    {"device_unknown", ProblemSeverity::kInfo, "records of devices are of kinds that this version does not know"},
    {"device_clock", ProblemSeverity::kInfo, "records of devices begin before the call that launched them"},
    {"device_clock_moved", ProblemSeverity::kInfo,
     "kernels of MegEngine began before their launches; the times of their device are later by the least that mends "
     "it"},
    {"device_flush_timeout", ProblemSeverity::kDataLoss,
     "CUPTI did not answer in time when the recording ended; what it still held is missing"},
    {"device_call_failed", ProblemSeverity::kDataLoss, "calls of CUPTI failed"},
    {"unfinished_scope", ProblemSeverity::kInfo, "scopes were still open when the recording ended"},
    {"recording_not_ended", ProblemSeverity::kDataLoss,
     "the recording did not end: its process was killed, or records still; what was published is here"},
    {"written_while_read", ProblemSeverity::kInfo,
     "the recording went on while its file was read; chunks that are newer than the rest were left out"},
    {"record_to_failed", ProblemSeverity::kInfo, "the file that was recorded to could not take everything"},
    {"open_scopes_hidden", ProblemSeverity::kInfo, "scopes were open that are too deep, or have no name, to be shown"},
    {"newer_minor_version", ProblemSeverity::kInfo,
     "the file was written by a newer version; unknown parts were ignored"},
    {"unknown_block", ProblemSeverity::kInfo,
     "blocks were freed whose allocation was not recorded; of unknown size, they were left out"},
    {"unsure_block", ProblemSeverity::kInfo,
     "blocks were freed that an earlier window had seen, and perhaps others had since; their sizes may be too large"},
    {"rank_missing", ProblemSeverity::kDataLoss, "ranks of the job have no file"},
    {"rank_doubled", ProblemSeverity::kDataLoss, "files of a rank that another file covers were left out"},
    {"other_job", ProblemSeverity::kDataLoss, "files of another job were left out"},
    {"unreadable_trace", ProblemSeverity::kError, "traces of ranks could not be read"},
    {"rank_starts_late", ProblemSeverity::kInfo, "ranks began to record later than others"},
    {"rank_ends_early", ProblemSeverity::kInfo, "ranks ended to record before others"},
    {"clock_not_aligned", ProblemSeverity::kInfo, "times of files could not be compared through collectives"},
    {"wall_clock_in_doubt", ProblemSeverity::kInfo, "the wall clock that files of one machine share is in doubt"},
    {"shared_ids", ProblemSeverity::kInfo, "ids of two files may be the same: they did not fit side by side"},
    {"over_memory_limit", ProblemSeverity::kDataLoss, "the memory limit was reached; everything before is kept"},
};

}  // namespace opscope
