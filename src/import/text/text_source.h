// A text while it is read: a window of bytes that grows at its end and is cut off at its front, so that memory holds
// the window and never the whole. Offsets are 64 bits and count from the first byte of the (decompressed) text.
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

struct TextBlock {
  std::string_view text;
  uint64_t offset = 0;                // of its first byte
  std::shared_ptr<const void> keeps;  // nothing when the source keeps the bytes itself
};

// How a compressed input ended.
struct TextEnd {
  int64_t damaged_at = -1;  // byte of the compressed input
  bool cut = false;         // damaged because it ends too early
};

class TextSource {
 public:
  virtual ~TextSource() = default;

  std::string_view text() const { return text_; }  // valid until the next call of Extend or Take
  uint64_t offset() const { return offset_; }      // of text()
  bool ended() const { return ended_; }            // text() reaches the end
  virtual void Extend(size_t size) = 0;
  virtual TextBlock Take(size_t size) = 0;  // REQUIRES: size <= text().size()

  // The end of the last block that was taken and is not back already stands before text() again.
  virtual void GiveBack(const TextBlock& rest) = 0;

  // What is worth asking Extend for.
  virtual size_t window_bytes() const { return size_t{256} << 10; }
  // Does a piece of work that Extend would have to wait for. False: there is none now.
  virtual bool WorkAhead() { return false; }
  // Memory beside what blocks keep.
  virtual uint64_t memory_bytes() const { return 0; }

  // For the progress: of the file, so of compressed bytes where it is compressed. Total 0: not known.
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
  // A block that stands right before text_.
  void Join(const TextBlock& rest) {
    offset_ = rest.offset;
    text_ = {rest.text.data(), rest.text.size() + text_.size()};
  }

  std::string_view text_;
  uint64_t offset_ = 0;
  bool ended_ = false;
};

// Bytes that lie in memory already.
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
