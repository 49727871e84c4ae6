// Any bytes as the input of profile_analyze: the reader refuses them, or every option has a result.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "importer_fuzz.h"
#include "opscope/megengine/analysis_text.h"
#include "opscope/megengine/operator_profile.h"
#include "opscope/megengine/profile_analyze.h"
#include "opscope/result.h"

namespace opscope {
namespace {

void Ask(std::span<const MegEngineOperator> operators) {
  for (const std::string_view column : MegEngineColumnNames()) {
    MegEngineSelection selection{.types = {}, .input_dtype = {}, .order = {}, .with_copy_time = true};
    selection.order = ParseMegEngineOrder(column).value();
    const MegEngineAnalysis all = AnalyzeMegEngineOperators(operators, selection);
    OPSCOPE_CHECK(all.device.size() <= operators.size() && all.host.size() <= operators.size());
    selection.aggregate = MegEngineAggregate::kMean, selection.by_type = true, selection.is_wait_time = true;
    const MegEngineAnalysis groups = AnalyzeMegEngineOperators(operators, selection);
    size_t members = 0;
    for (const MegEngineRecord& group : groups.device)
      members += group.count;
    OPSCOPE_CHECK(members == all.device.size());
    for (const MegEngineAnalysis* analysis : {&all, &groups}) {
      for (const bool is_for_confluence : {false, true})
        OPSCOPE_CHECK(
            !FormatMegEngineAnalysis(
                 *analysis, {.with_copy_time = true, .with_host = true, .is_for_confluence = is_for_confluence})
                 .empty());
    }
  }
}

}  // namespace
}  // namespace opscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace opscope;
  const Result<MegEngineProfile> read =
      ReadMegEngineProfile(std::as_bytes(std::span(data, size)), "input", kFuzzOptions);
  if (!read.ok()) {
    OPSCOPE_CHECK(read.error().message.starts_with("input: "));
    return 0;
  }
  if (read.value().is_graph) Ask(read.value().operators);
  else if (HasMegEngineOperators(read.value().trace)) Ask(FindMegEngineCalls(read.value().trace).operators);
  return 0;
}
