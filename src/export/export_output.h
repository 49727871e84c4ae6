// The sink of a format's writer. It compresses pieces, by several threads if they come as blocks, and passes them on in
// order. It also counts the rows that the format cannot hold.
//
// Thread rule: one thread at a time; the functions that make blocks run on several threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_team.h"
#include "export/chrome_buffer.h"
#include "export/compress.h"
#include "export/ordered_blocks.h"
#include "opscope/export/formats.h"

namespace opscope {

inline std::string_view TextOf(const std::string& block) {
  return block;
}
inline std::string_view TextOf(const ChromeBuffer& block) {
  return block.text();
}
inline void SetText(std::string_view text, std::string* block) {
  block->assign(text);
}
inline void SetText(std::string_view text, ChromeBuffer* block) {
  block->clear();
  block->Append(text);
}

class ExportOutput {
 public:
  using Take = std::function<bool(std::string_view)>;  // false: stop writing
  using Progress = std::function<void(size_t written, size_t pieces)>;

  ExportOutput(Compression compression, int gzip_level, Take take, Progress progress)
      : compression_(compression),
        gzip_level_(gzip_level),
        ends_(compression, gzip_level),
        take_(std::move(take)),
        progress_(std::move(progress)) {}

  // Compresses and passes on a piece of any size, on the calling thread.
  void Write(std::string_view text) {
    constexpr size_t kPiece = size_t{1} << 20;
    for (size_t at = 0; at < text.size() && !stopped_; at += kPiece)
      stopped_ = !take_(ends_.Compress(text.substr(at, kPiece)));
  }

  // Calls make(size_t block, Block* text) on several threads to append each block to an empty text, and passes the
  // blocks on in order. Block: std::string or ChromeBuffer.
  template <typename Block, typename Make>
  void WriteBlocks(size_t count, const Make& make) {
    if (stopped_) return;
    struct Worker {
      BlockCompressor compressor;
      Block text;
      const Make& make;
      bool compresses;

      Block operator()(size_t i, Block spare) {
        spare.clear();
        if (!compresses) {
          make(i, &spare);
          return spare;
        }
        text.clear();
        make(i, &text);
        if (!TextOf(text).empty()) SetText(compressor.Compress(TextOf(text)), &spare);
        return spare;
      }
    };
    const auto make_worker = [&] {
      return Worker{BlockCompressor(compression_, gzip_level_), {}, make, compression_ != Compression::kNone};
    };
    size_t written = 0;
    const auto take_block = [&](const Block& block) {
      stopped_ = !take_(TextOf(block));
      if (progress_) progress_(++written, count);
      return !stopped_;
    };
    OrderedBlocks<Block, decltype(make_worker), decltype(take_block)>(count, make_worker, take_block)
        .Run(DefaultThreadCount());
  }

  void CountOmitted(std::string_view what, uint64_t rows) {
    if (rows != 0) left_out_.push_back({what, rows});
  }
  void SetCrossing(uint64_t spans) { crossing_spans_ = spans; }
  void MoveCountsTo(Exported* exported) {
    exported->left_out = std::move(left_out_);
    exported->crossing_spans = crossing_spans_;
  }

 private:
  Compression compression_;
  int gzip_level_;
  BlockCompressor ends_;
  Take take_;
  Progress progress_;
  bool stopped_ = false;
  std::vector<LeftOut> left_out_;
  uint64_t crossing_spans_ = 0;
};

}  // namespace opscope
