// Metadata by which recordings of one machine know each other.
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
inline constexpr std::string_view kXlaHostsKey = "hostnames";

}  // namespace opscope
