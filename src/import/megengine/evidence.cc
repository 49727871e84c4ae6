// Members and names that distinguish MegEngine's events from those of other programs, taken from the writer of
// MegEngine 1.13, including misspelt counters ("gpu_usgae_ratio"). A begin or end named "Input 7" is only possible
// evidence, because any program may use such names.
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

ChromeEvidence CertainIf(bool condition) {
  return condition ? ChromeEvidence::kCertain : ChromeEvidence::kNone;
}

ChromeEvidence EvidenceOfRange(const ChromeEvent& event) {
  bool has_id = false, has_name = false, has_elements = false, has_dtype = false;
  for (const JsonMember& member : event.args) {
    const std::string_view key = member.key.text;
    has_id |= key == "__id__", has_name |= key == "__name__";
    has_elements |= key == "nr_elements", has_dtype |= key == "dtype";
  }
  if ((has_id && has_name) || (has_elements && has_dtype)) return ChromeEvidence::kCertain;
  const bool is_half = event.phase_letter() != 'X';
  return is_half && ReadMegEngineTensorName(event.name.text) ? ChromeEvidence::kPossible : ChromeEvidence::kNone;
}

ChromeEvidence EvidenceOfCounter(const ChromeEvent& event) {
  return CertainIf(event.args.size() == 1 && event.args[0].key.text == "value" && IsOneOf(kCounters, event.name.text));
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

ChromeEvidence EvidenceOfMegEngine(const ChromeEvent& event) {
  switch (event.phase_letter()) {
    case 'C':
      return EvidenceOfCounter(event);
    case 's':
    case 't':
    case 'f':
      return CertainIf(event.name.text == event.pid.text && IsOneOf(kArrows, event.category.text));
    default:
      return EvidenceOfRange(event);
  }
}

}  // namespace opscope
