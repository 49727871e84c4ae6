// Recognises MegEngine's timelines by single events. MegEngine writes "metadata" last, so a truncated or damaged file
// may not have it:
//
//   certain    args with __id__ and __name__, or with nr_elements and dtype, of an event without a category
//              a counter of MegEngine's: nr_alive_tensor {value: 1}
//              an arrow named after its process: {cat: TensorLink, name: "7984", pid: 7984}
//   possible   begin or end of `Input 7`, `Del 7`, ...; other programs may use such names
//
// Every file of MegEngine 1.13 begins with a counter.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "import/chrome/dialect.h"
#include "import/chrome/event.h"

namespace opscope {

// "Input 155", the name of a range of a tensor: "Input" and 155.
struct MegEngineTensorName {
  std::string_view word;
  uint32_t tensor = 0;
};
// nullopt for other names, also if the number is not spelt as MegEngine spells it ("Input 007").
[[nodiscard]] std::optional<MegEngineTensorName> ReadMegEngineTensorName(std::string_view name);

// True for the first word of such a name.
[[nodiscard]] bool IsMegEngineTensorWord(std::string_view word);
// True for names of ranges whose tensor's number is only in the members.
[[nodiscard]] bool IsMegEngineProperty(std::string_view name);

// For a range without a category, a counter or an end of a flow.
[[nodiscard]] ChromeEvidence EvidenceOfMegEngine(const ChromeEvent& event);

}  // namespace opscope
