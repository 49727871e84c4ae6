// SPDX-License-Identifier: Apache-2.0
#include "base/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace opscope {
namespace {

namespace fs = std::filesystem;

uint64_t MemoryOfMachine() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : UINT64_MAX;
}

// The number in a file; UINT64_MAX for "max", as an unlimited group says, and where there is no such file.
uint64_t ReadLimit(const fs::path& file) {
  uint64_t bytes = 0;
  return std::ifstream(file) >> bytes ? bytes : UINT64_MAX;
}

// The smallest limit of a group and of those around it. Where the group is not visible, as in a container, the folder
// of the hierarchy is the group itself.
uint64_t LimitOfGroup(const fs::path& hierarchy, std::string_view group, const char* file) {
  uint64_t limit = ReadLimit(hierarchy / file);
  fs::path around = hierarchy;
  for (const fs::path& part : fs::path(group).relative_path()) {
    around /= part;
    limit = std::min(limit, ReadLimit(around / file));
  }
  return limit;
}

}  // namespace

uint64_t MemoryLimit(const std::string& root) {
  uint64_t limit = MemoryOfMachine();
  const fs::path groups = fs::path(root) / "sys/fs/cgroup";
  std::ifstream file(fs::path(root) / "proc/self/cgroup");
  // "0::/user.slice/job" (version 2), "9:memory:/job" (version 1)
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const std::string_view group = std::string_view(line).substr(second + 1);
    if (controllers.empty()) limit = std::min(limit, LimitOfGroup(groups, group, "memory.max"));
    if (controllers == "memory")
      limit = std::min(limit, LimitOfGroup(groups / "memory", group, "memory.limit_in_bytes"));
  }
  return limit;
}

}  // namespace opscope
