// How much memory this process may use: that of the machine, or less in a container or a job of Slurm, whose control
// groups limit it.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace opscope {

// Bytes; UINT64_MAX if no limit is known. root: the folder that has proc and sys. Cost: reads a few small files.
[[nodiscard]] uint64_t MemoryLimit(const std::string& root = "/");

}  // namespace opscope
