// What the program calls nodes of graphs, read from the metadata of a window.
// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>

#include <optional>
#include <string_view>

#include "base/json_members.h"
#include "base/parse_whole.h"
#include "import/recording/cuda.h"

namespace opscope {

namespace json = simdjson::ondemand;

void RecordingCuda::NameNodes(std::string_view text) {
  const simdjson::padded_string padded(text);
  json::parser parser;
  json::document document;
  json::object nodes;
  if (padded.data() == nullptr || parser.iterate(padded).get(document) != simdjson::SUCCESS) return;
  if (document.get_object().get(nodes) != simdjson::SUCCESS) return;
  for (auto each : nodes) {
    std::string_view key, members;
    if (each.unescaped_key().get(key) != simdjson::SUCCESS) return;
    const std::optional<uint64_t> node = ParseWhole<uint64_t>(key);
    if (each.value().get_string().get(members) != simdjson::SUCCESS) continue;
    // They are written into files as they are: what is no object's inside would break them.
    if (node && AreJsonMembers(members)) node_names_.emplace_back(*node, members);
  }
}

}  // namespace opscope
