// What the tab About says of the machine, the programs and the user's options: the entries of the metadata that say it,
// as they are in the trace. Values that are no JSON or very long are left out, because a foreign file may have any.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <vector>

#include "base/json_members.h"
#include "base/json_object.h"
#include "base/metadata_keys.h"
#include "report/html/page_parts.h"

namespace opscope {
namespace {

constexpr size_t kLongestAboutEntry = 20'000;

constexpr std::string_view kAboutKeys[] = {
    kHostKey,        kProcessorsKey,     kThreadsKey,     kSoftwareKey,           kOptionsKey,
    kDistributedKey, "deviceProperties", "cupti_version", "cuda_runtime_version", "cuda_driver_version",
    "record_shapes", "profile_memory",   "with_stack",    "with_modules",         "with_flops"};

}  // namespace

void AppendPageMetadata(const Trace& trace, size_t max_bytes, std::string* out) {
  const MetadataColumns& metadata = trace.metadata();
  const size_t begin = out->size();
  JsonObject object(out);
  std::vector<StringId> written;
  for (size_t row = 0; row < metadata.size(); ++row) {
    const StringId key = metadata.key[row];
    const std::string_view json = trace.text(metadata.json[row]);
    const bool is_known =
        std::find(std::begin(kAboutKeys), std::end(kAboutKeys), trace.text(key)) != std::end(kAboutKeys);
    const bool is_first = std::find(written.begin(), written.end(), key) == written.end();
    const bool fits = json.size() <= kLongestAboutEntry && out->size() - begin + json.size() <= max_bytes;
    if (!is_known || !is_first || !fits || !IsJsonValue(json)) continue;
    written.push_back(key);
    object.Json(trace.text(key), json);
  }
  object.Close();
}

}  // namespace opscope
