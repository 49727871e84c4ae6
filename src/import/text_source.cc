// SPDX-License-Identifier: Apache-2.0
#include "import/text_source.h"

#include <sys/mman.h>

#include <algorithm>

namespace opscope {

PlainText::PlainText(std::span<const std::byte> bytes, bool is_file_mapping)
    : bytes_(reinterpret_cast<const char*>(bytes.data()), bytes.size()), is_file_mapping_(is_file_mapping) {
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

void PlainText::Release(uint64_t before) {
  constexpr uint64_t kStep = uint64_t{1} << 20;
  before &= ~(kStep - 1);
  if (!is_file_mapping_ || before <= dropped_) return;
  madvise(const_cast<char*>(bytes_.data()) + dropped_, static_cast<size_t>(before - dropped_), MADV_DONTNEED);
  dropped_ = before;
}

}  // namespace opscope
