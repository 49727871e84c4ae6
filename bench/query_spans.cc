// The file that the SQL row reads: `query_spans FILE SPANS` records so many scopes, four deep, with 256 names, as a C++
// program would, and saves the recording.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "opscope/profiler.h"

namespace {

constexpr size_t kNames = 256;
constexpr size_t kDepth = 4;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const size_t spans = std::strtoull(argv[2], nullptr, 10);
  std::vector<std::string> names;
  for (size_t i = 0; i < kNames; ++i)
    names.push_back((i % 3 == 0 ? "mm_" : "aten::native_layer_norm_backward_") + std::to_string(i));
  opscope::Profiler profiler({.max_bytes = uint64_t{8} << 30});
  if (!profiler.Start().ok()) return 1;
  uint32_t random = 1;
  const auto next_name = [&] {
    random = random * 1664525 + 1013904223;
    return names[random >> 24].c_str();
  };
  for (size_t i = 0; i < spans; i += kDepth) {
    const opscope::Scope a(next_name());
    const opscope::Scope b(next_name());
    const opscope::Scope c(next_name());
    const opscope::Scope d(next_name());
  }
  if (!profiler.Stop().ok()) return 1;
  const opscope::Status saved = profiler.Save(argv[1]);
  if (!saved.ok()) std::fprintf(stderr, "query_spans: %s\n", saved.error().message.c_str());
  return saved.ok() ? 0 : 1;
}
