// Reads the program's names of CUDA graph nodes from the metadata of a window.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string_view>

#include "base/json_members.h"
#include "base/parse_whole.h"
#include "import/recording/cuda.h"
#include "import/recording/parsed_json.h"

namespace opscope {

void RecordingCuda::NameNodes(std::string_view text) {
  ParsedJson parsed(text);
  simdjson::ondemand::object nodes;
  if (!parsed.Get(&nodes)) return;
  for (auto each : nodes) {
    std::string_view key, members;
    if (each.unescaped_key().get(key) != simdjson::SUCCESS) return;
    const std::optional<uint64_t> node = ParseWhole<uint64_t>(key);
    if (each.value().get_string().get(members) != simdjson::SUCCESS) continue;
    // They are copied into files unchanged, which would be damaged by anything but members of an object.
    if (node && AreJsonMembers(members)) node_names_.emplace_back(*node, members);
  }
}

}  // namespace opscope
