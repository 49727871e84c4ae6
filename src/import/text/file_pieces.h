// A file as pieces: a plain one is read to where its bytes are looked at, what arrives by and by (a pipe) ahead of
// that.
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

// How the reading of a file ended.
struct FileEnd {
  Status status;             // what the system said when it refused to go on
  uint64_t bytes = 0;        // that were read
  bool was_reached = false;  // there were no more
};

class FilePieces : public PieceReader {
 public:
  // REQUIRES: both live longer
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
