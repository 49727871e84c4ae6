// A direct-mapped cache of 256 JSON-escaped names: events repeat few names, and escaping each time would dominate.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include "base/text.h"
#include "opscope/trace.h"

namespace opscope {

class EscapedNames {
 public:
  explicit EscapedNames(const Trace& trace) : trace_(trace) {}
  // The escaped name without quotes. Valid until the next call.
  std::string_view Of(StringId name) {
    Known& known = known_[Row(name) % std::size(known_)];
    if (known.name != name) {
      known.name = name;
      known.text.clear();
      AppendJsonEscaped(&known.text, trace_.text(name));
    }
    return known.text;
  }

 private:
  struct Known {
    StringId name = StringId::kNone;
    std::string text;
  };

  const Trace& trace_;
  std::array<Known, 256> known_;
};

}  // namespace opscope
