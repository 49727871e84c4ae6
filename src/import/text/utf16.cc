// Two bytes at a time become UTF-8; a high surrogate waits for the low one, and one that gets none is kept as three
// bytes of its own. Errors and problems name offsets of the file, which is UTF-16, while importers count in UTF-8. So
// the offsets are kept as stretches: a stretch of ASCII is two numbers, any other has two bits for each character (the
// length of its UTF-8, which also gives that of its UTF-16).
// SPDX-License-Identifier: Apache-2.0
#include "import/text/utf16.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace opscope {
namespace {

class Utf16Pieces : public PieceReader {
 public:
  Utf16Pieces(TextSource* text, Utf16Order order, Utf16Offsets* offsets)
      : text_(*text), is_big_(order == Utf16Order::kBigEndian), offsets_(*offsets) {}

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
    held_.store(text_.memory_bytes() + offsets_.memory_bytes(), std::memory_order_relaxed);
  }

  uint32_t Unit(std::string_view bytes) const {
    const auto first = static_cast<unsigned char>(bytes[0]), second = static_cast<unsigned char>(bytes[1]);
    return is_big_ ? static_cast<uint32_t>(first << 8 | second) : static_cast<uint32_t>(second << 8 | first);
  }

  void Add(uint32_t unit) {
    if (std::exchange(is_begin_, false) && unit == 0xfeff) return offsets_.AddMark();
    const bool is_low = unit >= 0xdc00 && unit <= 0xdfff;
    if (high_ != 0 && is_low) return Append(0x10000 + ((std::exchange(high_, 0) - 0xd800) << 10) + (unit - 0xdc00));
    FlushHigh();
    if (unit >= 0xd800 && unit <= 0xdbff) {
      high_ = unit;
    } else {
      Append(unit);
    }
  }

  void Append(uint32_t code) {
    const size_t before = utf8_.size();
    AppendCodePoint(&utf8_, code);
    offsets_.Add(utf8_.size() - before);
  }

  // A high surrogate that no low one follows.
  void FlushHigh() {
    if (high_ != 0) Append(std::exchange(high_, 0));
  }

  TextSource& text_;
  const bool is_big_;
  Utf16Offsets& offsets_;
  bool is_begin_ = true, is_ended_ = false;
  uint32_t high_ = 0;  // the surrogate that waits for its other half
  std::string utf8_;
};

uint32_t UnitAt(std::span<const std::byte> bytes, size_t at, Utf16Order order) {
  const auto first = std::to_integer<uint32_t>(bytes[at]), second = std::to_integer<uint32_t>(bytes[at + 1]);
  return order == Utf16Order::kBigEndian ? first << 8 | second : second << 8 | first;
}

// A bracket, and behind it what may follow one.
bool BeginsAsJson(std::span<const std::byte> head, Utf16Order order) {
  bool has_bracket = false;
  for (size_t at = 0; at + 1 < head.size(); at += 2) {
    const uint32_t unit = UnitAt(head, at, order);
    if (unit < 0x80 && IsJsonBlank(static_cast<char>(unit))) continue;
    const std::string_view wanted = has_bracket ? "\"{}[],-0123456789" : "{[";
    if (unit > 0x7f || unit == 0 || wanted.find(static_cast<char>(unit)) == std::string_view::npos) return false;
    if (has_bracket) return true;
    has_bracket = true;
  }
  return has_bracket;
}

}  // namespace

Utf16Order DetectUtf16(std::span<const std::byte> head) {
  if (head.size() < 2) return Utf16Order::kNone;
  if (UnitAt(head, 0, Utf16Order::kLittleEndian) == 0xfeff) return Utf16Order::kLittleEndian;
  if (UnitAt(head, 0, Utf16Order::kBigEndian) == 0xfeff) return Utf16Order::kBigEndian;
  for (const Utf16Order order : {Utf16Order::kLittleEndian, Utf16Order::kBigEndian}) {
    if (UnitAt(head, 0, order) <= 0x7f && BeginsAsJson(head, order)) return order;
  }
  return Utf16Order::kNone;
}

Utf16Order GuessUtf16(std::span<const std::byte> head) {
  const auto is_ascii = [](uint32_t unit) { return unit >= ' ' && unit < 0x7f; };
  if (head.size() < 4) return Utf16Order::kNone;
  for (const Utf16Order order : {Utf16Order::kLittleEndian, Utf16Order::kBigEndian}) {
    if (is_ascii(UnitAt(head, 0, order)) && is_ascii(UnitAt(head, 2, order))) return order;
  }
  return Utf16Order::kNone;
}

void Utf16Offsets::AddOther(size_t utf8_bytes) {
  const bool is_full = !is_ascii_ && characters_ == kMaxCharacters;
  if (stretches_.empty() || is_full || is_ascii_) {
    is_ascii_ = utf8_bytes == 1;
    characters_ = 0;
    stretches_.push_back({utf8_, utf16_, {}});
  }
  if (is_ascii_) return;
  std::string& lengths = stretches_.back().lengths;
  const size_t shift = 2 * (characters_++ % 4);
  if (shift == 0) lengths += '\0', ++kept_bytes_;
  lengths.back() = static_cast<char>(static_cast<unsigned char>(lengths.back()) | (utf8_bytes - 1) << shift);
}

uint64_t Utf16Offsets::Utf16Of(uint64_t utf8_offset) const {
  if (utf8_offset >= utf8_ || stretches_.empty()) return utf16_;
  const auto behind = std::upper_bound(stretches_.begin(), stretches_.end(), utf8_offset,
                                       [](uint64_t offset, const Stretch& stretch) { return offset < stretch.utf8; });
  const Stretch& stretch = *std::prev(behind);
  if (stretch.lengths.empty()) return stretch.utf16 + 2 * (utf8_offset - stretch.utf8);
  uint64_t utf8 = stretch.utf8, utf16 = stretch.utf16;
  for (size_t i = 0;; ++i) {
    const uint64_t bytes = 1 + (static_cast<unsigned char>(stretch.lengths[i / 4]) >> 2 * (i % 4) & 3);
    if (utf8 + bytes > utf8_offset) return utf16;
    utf8 += bytes;
    utf16 += bytes == 4 ? 4 : 2;
  }
}

std::unique_ptr<PieceReader> ReadUtf16(TextSource* text, Utf16Order order, Utf16Offsets* offsets) {
  return std::make_unique<Utf16Pieces>(text, order, offsets);
}

}  // namespace opscope
