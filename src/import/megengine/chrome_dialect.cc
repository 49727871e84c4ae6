// MegEngine's dialect of Chrome JSON, by megengine.utils.profiler. Events have no categories. The metadata with the
// base time is behind them, so a truncated file is recognised by its events (evidence.h):
//
//   {"traceEvents": [{"name": "nr_alive_tensor", "ph": "C", "args": {"value": 1}, ...},
//                    {"name": "Input 7", "ph": "B", "args": {"shape": "{2,3}", "dtype": "Float32", ...}, ...}, ...],
//    "metadata": {"localTime": "1795216449185312847"}}
//
// An E repeats the members of its B. timeline.h and numbers.h combine the facts of several events.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "import/chrome/dialect.h"
#include "import/megengine/evidence.h"
#include "import/megengine/importer.h"
#include "import/megengine/numbers.h"
#include "import/megengine/timeline.h"
#include "opscope/megengine/element_types.h"

namespace opscope {
namespace {

bool IsMegEngineFile(const ChromeFile& file) {
  return file.MetadataHas("metadata", "localTime") || file.shown_by_events;
}

// "{64,3}"
bool ReadBracedShape(std::string_view shape, std::string* dims) {
  if (shape.size() < 2 || shape.front() != '{' || shape.back() != '}') return false;
  shape = shape.substr(1, shape.size() - 2);
  for (std::string_view rest = shape; !rest.empty();) {
    const std::string_view size = rest.substr(0, rest.find(','));
    const bool is_number = !size.empty() && size.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_number || (size.front() == '0' && size.size() > 1) || size.size() == rest.size() - 1) return false;
    rest.remove_prefix(std::min(size.size() + 1, rest.size()));
  }
  dims->append("[").append(shape).append("]");
  return true;
}

// Appends the list of one tensor.
bool ReadTensorShape(const JsonValue& value, const std::vector<JsonMember>& members, ChromeLists* lists) {
  const JsonMember* type = FindMember(members, "dtype");
  if (type == nullptr || !type->value.is_string() || !ReadBracedShape(value.text, &lists->dims)) return false;
  AppendCleanJson(&lists->types, type->value);
  return true;
}

bool IsInputOfOperator(std::string_view name, const Argument& input) {
  const bool is_input = name.size() > 6 && name.starts_with("Input ") &&
                        name.find_first_not_of("0123456789", 6) == std::string_view::npos;
  return is_input && input.kind == ArgumentKind::kTensor && input.sizes.size() <= kMaxMegEngineDimensions;
}

// An operator has its "__name__" as name; its dispatch and its waits have other names.
SpanKind KindOfMegEngineSpan(TrackKind track, std::string_view name, std::string_view members) {
  const bool is_operator = track == TrackKind::kThread &&
                           members.find("\"__name__\": \"" + std::string(name) + '"') != std::string_view::npos;
  return is_operator ? SpanKind::kOperator : kKindOfCategory;
}

void FinishMegEngineFile(TraceBuilder* builder) {
  NumberMegEngineDevices(builder);
  GiveMegEngineNumbers(builder);
  AlignMegEngineDevices(builder);
  AddMegEngineSteps(builder);
}

constexpr ChromeMember kMembers[] = {
    {.key = "shape", .meaning = ChromeMember::Meaning::kLists, .read = ReadTensorShape},
};

}  // namespace

constinit const ChromeDialect kMegEngineChromeDialect = {
    .format = "megengine-json",
    .is_writer = IsMegEngineFile,
    .evidence_in = EvidenceOfMegEngine,
    .members = kMembers,
    .base_time_key = "metadata",
    .base_time_member = "localTime",
    .shared_end_category =
        "TensorProp",  // several events may start an arrow to the wait for a tensor, which has one end
    .is_argument_range = IsInputOfOperator,
    .kind_of = KindOfMegEngineSpan,
    .ends_repeat_begins = true,
    .finish = FinishMegEngineFile,
};

}  // namespace opscope
