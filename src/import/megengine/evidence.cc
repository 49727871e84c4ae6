// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/evidence.h"

#include <algorithm>
#include <iterator>

#include "import/text/json_number.h"

namespace opscope {
namespace {

constexpr std::string_view kOfTensors[] = {"Input", "Output", "Put", "Del", "Drop", "ReGen", "RecFree", "GetValue"};
constexpr std::string_view kCounters[] = {"train_time_ratio",    "gpu_usgae_ratio", "gpu_usage_ratio",
                                          "nr_op_pending",       "nr_alive_tensor", "nr_redunant_tensor",
                                          "nr_redundant_tensor", "device_ahead_ms"};
constexpr std::string_view kArrows[] = {"TensorLink", "OpDispatch", "KernelLaunch", "TensorProp"};

template <size_t N>
bool IsOneOf(const std::string_view (&words)[N], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

MegEngineEvidence CertainIf(bool condition) {
  return condition ? MegEngineEvidence::kCertain : MegEngineEvidence::kNone;
}

}  // namespace

std::optional<MegEngineTensorName> ReadMegEngineTensorName(std::string_view name) {
  const size_t blank = name.find(' ');
  if (blank == std::string_view::npos || !IsOneOf(kOfTensors, name.substr(0, blank))) return std::nullopt;
  const std::string_view digits = name.substr(blank + 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  if (digits.front() == '0' && digits.size() > 1) return std::nullopt;
  const auto number = ParseUnsigned(digits);
  if (!number || *number > UINT32_MAX) return std::nullopt;
  return MegEngineTensorName{name.substr(0, blank), static_cast<uint32_t>(*number)};
}

bool IsMegEngineTensorWord(std::string_view word) {
  return IsOneOf(kOfTensors, word);
}

bool IsMegEngineProperty(std::string_view name) {
  return name == "TensorGetProp" || name == "TensorWaitProp";
}

MegEngineEvidence EvidenceOfRange(std::string_view name, const std::vector<JsonMember>& args, bool is_half) {
  bool has_id = false, has_name = false, has_elements = false, has_dtype = false;
  for (const JsonMember& member : args) {
    const std::string_view key = member.key.text;
    has_id |= key == "__id__", has_name |= key == "__name__";
    has_elements |= key == "nr_elements", has_dtype |= key == "dtype";
  }
  if ((has_id && has_name) || (has_elements && has_dtype)) return MegEngineEvidence::kCertain;
  return is_half && ReadMegEngineTensorName(name) ? MegEngineEvidence::kPossible : MegEngineEvidence::kNone;
}

MegEngineEvidence EvidenceOfCounter(std::string_view name, const std::vector<JsonMember>& args) {
  return CertainIf(args.size() == 1 && args[0].key.text == "value" && IsOneOf(kCounters, name));
}

MegEngineEvidence EvidenceOfArrow(std::string_view category, std::string_view name, std::string_view pid) {
  return CertainIf(name == pid && IsOneOf(kArrows, category));
}

}  // namespace opscope
