// A text that lies in memory as a whole: Extend moves the end of the window, Take its begin, and nothing is copied.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/text_source.h"

#include <algorithm>

namespace opscope {

PlainText::PlainText(std::span<const std::byte> bytes) : bytes_(AsText(bytes)) {
  ended_ = bytes_.empty();
}

void PlainText::Extend(size_t size) {
  const std::string_view rest = bytes_.substr(static_cast<size_t>(offset_));
  text_ = rest.substr(0, std::max(size, text_.size()));
  ended_ = text_.size() == rest.size();
}

TextBlock PlainText::Take(size_t size) {
  return Cut(size, nullptr);
}

void PlainText::GiveBack(const TextBlock& rest) {
  Join(rest);
}

}  // namespace opscope
