// SPDX-License-Identifier: Apache-2.0
#include "import/text/utf16.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/text.h"

namespace opscope {
namespace {

class Utf16Pieces : public PieceReader {
 public:
  Utf16Pieces(TextSource* text, Utf16Order order) : text_(*text), is_big_(order == Utf16Order::kBigEndian) {}

  bool Next(TextPiece* piece) override {
    utf8_.clear();
    while (utf8_.empty() && !is_ended_)
      Decode();
    if (utf8_.empty()) return false;
    *piece = NewPiece(utf8_.size());
    piece->size = utf8_.size();
    std::memcpy(piece->data.get(), utf8_.data(), utf8_.size());
    return true;
  }

 private:
  void Decode() {
    text_.Extend(kPieceBytes / 2);
    const size_t size = std::min(text_.text().size(), kPieceBytes / 2) & ~size_t{1};
    is_ended_ = size == 0;
    if (is_ended_ && !text_.text().empty()) end_ = {static_cast<int64_t>(text_.offset()), true};
    const TextBlock block = text_.Take(size);
    for (size_t at = 0; at < size; at += 2)
      Add(Unit(block.text.substr(at, 2)));
    if (is_ended_) FlushHigh();
    consumed_.store(text_.bytes_read(), std::memory_order_relaxed);
    held_.store(text_.memory_bytes(), std::memory_order_relaxed);
  }

  uint32_t Unit(std::string_view bytes) const {
    const auto first = static_cast<unsigned char>(bytes[0]), second = static_cast<unsigned char>(bytes[1]);
    return is_big_ ? static_cast<uint32_t>(first << 8 | second) : static_cast<uint32_t>(second << 8 | first);
  }

  void Add(uint32_t unit) {
    if (std::exchange(is_begin_, false) && unit == 0xfeff) return;
    const bool is_low = unit >= 0xdc00 && unit <= 0xdfff;
    if (high_ != 0 && is_low)
      return AppendCodePoint(&utf8_, 0x10000 + ((std::exchange(high_, 0) - 0xd800) << 10) + (unit - 0xdc00));
    FlushHigh();
    if (unit >= 0xd800 && unit <= 0xdbff) {
      high_ = unit;
    } else {
      AppendCodePoint(&utf8_, unit);
    }
  }

  // A high surrogate that no low one follows.
  void FlushHigh() {
    if (high_ != 0) AppendCodePoint(&utf8_, std::exchange(high_, 0));
  }

  TextSource& text_;
  const bool is_big_;
  bool is_begin_ = true, is_ended_ = false;
  uint32_t high_ = 0;  // the surrogate that waits for its other half
  std::string utf8_;
};

}  // namespace

Utf16Order DetectUtf16(std::span<const std::byte> bytes) {
  if (bytes.size() < 2) return Utf16Order::kNone;
  const auto first = static_cast<unsigned char>(bytes[0]), second = static_cast<unsigned char>(bytes[1]);
  if (first == 0xff && second == 0xfe) return Utf16Order::kLittleEndian;
  return first == 0xfe && second == 0xff ? Utf16Order::kBigEndian : Utf16Order::kNone;
}

std::unique_ptr<PieceReader> ReadUtf16(TextSource* text, Utf16Order order) {
  return std::make_unique<Utf16Pieces>(text, order);
}

}  // namespace opscope
