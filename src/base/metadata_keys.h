// The keys of metadata about the machine and the process of a recording. Each comment describes the JSON value.
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace opscope {

// A text, equal for all processes between two boots of a machine.
inline constexpr std::string_view kBootKey = "opscope_boot";
// [[CLOCK_MONOTONIC, CLOCK_REALTIME, how far apart they may have been read], ...] in nanoseconds, a row per window: its
// times are those of the monotonic clock, moved by the difference.
inline constexpr std::string_view kWallClockKey = "opscope_wall_clock";
// The host's name, as torch's files and XLA's say it.
inline constexpr std::string_view kHostKey = "host_name";
// A number of nanoseconds, by which the wall clock may have been wrong at the start (ProcessIdentity::wall_error_ns).
inline constexpr std::string_view kWallErrorKey = "opscope_wall_error_ns";
// A number, from 0: how often the job had been started anew.
inline constexpr std::string_view kAttemptKey = "opscope_attempt";
// {"rank": 3, "world_size": 8, ...}, as torch's files say it.
inline constexpr std::string_view kDistributedKey = "distributedInfo";
// Numbers: threads with which torch computes one operator, and processors that the process may use.
inline constexpr std::string_view kThreadsKey = "opscope_threads";
inline constexpr std::string_view kProcessorsKey = "opscope_processors";
// Objects: versions of opscope, the framework, Python and CUDA, by these names in lower case; and the options that the
// user gave to the profiler.
inline constexpr std::string_view kSoftwareKey = "opscope_software";
inline constexpr std::string_view kOptionsKey = "opscope_options";
// An array of the hosts' names, as XLA's files say it.
inline constexpr std::string_view kXlaHostsKey = "hostnames";

}  // namespace opscope
