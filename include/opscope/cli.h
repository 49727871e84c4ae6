// The command line as a function, so that the program without Python and the Python entry point are
// the same command.
//
// Thread rule: one call per process at a time; writes to standard output and standard error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "opscope/doctor.h"

namespace opscope {

// Asked by `opscope doctor` alone. May be empty: there is no host.
using AskHost = std::function<HostFacts()>;

// Runs `opscope ARGS...`; argv[0] is not looked at. Returns the exit code: 0 done, 1 could not do it,
// 2 wrong usage, 3 done in part. Never throws, never exits. Leaves signal handlers as they are: with
// SIGPIPE ignored, a closed pipe ends the output quietly with 0.
[[nodiscard]] int RunCli(int argc, const char* const* argv, const AskHost& ask_host = {});

}  // namespace opscope
