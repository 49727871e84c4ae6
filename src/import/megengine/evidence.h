// What shows that MegEngine wrote a timeline. It writes "metadata" last, so a file that is cut or damaged may have lost
// it, and a single event must tell:
//
//   certain    args with __id__ and __name__, or with nr_elements and dtype, of an event without a category
//              a counter of MegEngine's: nr_alive_tensor {value: 1}
//              an arrow named after its process: {cat: TensorLink, name: "7984", pid: 7984}
//   possible   begin or end of `Input 7`, `Del 7`, ...; other programs may call their ranges so
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

// "Input 155", the range of a tensor.
struct MegEngineTensorName {
  std::string_view word;
  uint32_t tensor = 0;
};
// Nothing where the name is another one, also where its number is not spelt as MegEngine spells it ("Input 007").
[[nodiscard]] std::optional<MegEngineTensorName> ReadMegEngineTensorName(std::string_view name);

// What such a name begins with.
[[nodiscard]] bool IsMegEngineTensorWord(std::string_view word);
// The name of a range that has the number of its tensor among its members alone.
[[nodiscard]] bool IsMegEngineProperty(std::string_view name);

// Of a range without a category, a counter or an end of an arrow.
[[nodiscard]] ChromeEvidence EvidenceOfMegEngine(const ChromeEvent& event);

}  // namespace opscope
