// A file that cannot be mapped, piece by piece as it arrives.
//
// Thread rule: as PieceReader; FileEnd after the last piece.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file.h"
#include "import/text_pieces.h"
#include "opscope/result.h"

namespace opscope {

// How the reading of a file ended.
struct FileEnd {
  Status status;       // what the system said when it refused to go on
  uint64_t bytes = 0;  // that were read
};

class FilePieces : public PieceReader {
 public:
  // REQUIRES: is not mapped; both live longer
  FilePieces(InputFile* file, FileEnd* end) : file_(*file), file_end_(*end) {}

  bool Next(TextPiece* piece) override {
    *piece = NewPiece(kPieceBytes);
    while (piece->size < kPieceBytes && file_end_.status.ok()) {
      const Result<size_t> got = file_.Read({piece->data.get() + piece->size, kPieceBytes - piece->size});
      if (!got.ok()) file_end_.status = got.error();
      if (!got.ok() || got.value() == 0) break;
      piece->size += got.value();
    }
    file_end_.bytes += piece->size;
    consumed_.store(file_end_.bytes, std::memory_order_relaxed);
    return piece->size != 0;
  }

 private:
  InputFile& file_;
  FileEnd& file_end_;
};

}  // namespace opscope
