// Reads a file in pieces. A regular file is read directly into the buffer where the text is used; input that arrives
// slowly (a pipe) is read ahead.
//
// Thread rule: as PieceReader; FileEnd after the last piece.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/file.h"
#include "import/text/text_pieces.h"
#include "opscope/result.h"

namespace opscope {

// How reading a file ended.
struct FileEnd {
  Status status;             // the system's error, if reading failed
  uint64_t bytes = 0;        // number of bytes read
  bool was_reached = false;  // the end of the file was reached
};

class FilePieces : public PieceReader {
 public:
  // REQUIRES: both outlive the reader
  FilePieces(InputFile* file, FileEnd* end) : file_(*file), file_end_(*end) {}

  bool Next(TextPiece* piece) override {
    *piece = NewPiece(kPieceBytes);
    piece->size = ReadInto({piece->data.get(), kPieceBytes});
    return piece->size != 0;
  }
  bool reads_into() const override { return file_.size() != 0; }
  size_t ReadInto(std::span<std::byte> into) override {
    size_t size = 0;
    while (size < into.size() && file_end_.status.ok() && !file_end_.was_reached) {
      const Result<size_t> got = file_.Read(into.subspan(size));
      if (!got.ok()) file_end_.status = got.error();
      if (!got.ok()) break;
      file_end_.was_reached = got.value() == 0;
      size += got.value();
    }
    file_end_.bytes += size;
    consumed_.store(file_end_.bytes, std::memory_order_relaxed);
    return size;
  }

 private:
  InputFile& file_;
  FileEnd& file_end_;
};

}  // namespace opscope
