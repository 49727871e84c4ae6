// A text while it is read: a window of bytes that grows at its end and is cut at its front, so that only the window is
// in memory. Offsets have 64 bits and count from the first byte of the (decompressed) text.
//
//   source->Extend(1 << 20);                      // at least so many bytes, unless the text ends
//   TextBlock block = source->Take(whole_events);  // stays in memory until the block and its copies are gone
//
// Thread rule: one thread at a time, but WorkAhead and total_bytes, which any thread may call at any time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace opscope {

inline std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // UTF-8

struct TextBlock {
  std::string_view text;
  uint64_t offset = 0;                // of its first byte
  std::shared_ptr<const void> keeps;  // owns the bytes; null if the source does
};

// How a compressed input ended.
struct TextEnd {
  int64_t damaged_at = -1;  // offset in the compressed input
  bool cut = false;         // damaged because the input ends too early
};

class TextSource {
 public:
  virtual ~TextSource() = default;

  std::string_view text() const { return text_; }  // valid until the next call of Extend or Take
  uint64_t offset() const { return offset_; }      // of text()
  bool ended() const { return ended_; }            // text() reaches the end
  virtual void Extend(size_t size) = 0;
  virtual TextBlock Take(size_t size) = 0;  // REQUIRES: size <= text().size()

  // Puts `rest` back before text(). REQUIRES: it is the end of the last block that was taken and not given back.
  virtual void GiveBack(const TextBlock& rest) = 0;

  // A useful size for Extend.
  virtual size_t window_bytes() const { return size_t{256} << 10; }
  // Does some work that Extend would otherwise have to do. False: no work is left at the moment.
  virtual bool WorkAhead() { return false; }
  // Memory apart from the blocks.
  virtual uint64_t memory_bytes() const { return 0; }

  // For the progress: bytes of the file, which may be compressed. Total 0: unknown.
  virtual uint64_t bytes_read() const { return offset_; }
  virtual uint64_t total_bytes() const = 0;
  virtual TextEnd end() const { return {}; }

 protected:
  TextBlock Cut(size_t size, std::shared_ptr<const void> keeps) {
    TextBlock block{text_.substr(0, size), offset_, std::move(keeps)};
    text_.remove_prefix(size);
    offset_ += size;
    return block;
  }
  // REQUIRES: the bytes of `rest` are directly before text_
  void Join(const TextBlock& rest) {
    offset_ = rest.offset;
    text_ = {rest.text.data(), rest.text.size() + text_.size()};
  }

  std::string_view text_;
  uint64_t offset_ = 0;
  bool ended_ = false;
};

// A text that is completely in memory.
class PlainText : public TextSource {
 public:
  explicit PlainText(std::span<const std::byte> bytes);
  void Extend(size_t size) override;
  TextBlock Take(size_t size) override;
  void GiveBack(const TextBlock& rest) override;
  uint64_t total_bytes() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

}  // namespace opscope
