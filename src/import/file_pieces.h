// A file that cannot be mapped, piece by piece as it arrives.
//
// Thread rule: as PieceReader; status() after the last piece.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file.h"
#include "import/text_pieces.h"
#include "opscope/result.h"

namespace opscope {

class FilePieces : public PieceReader {
 public:
  // REQUIRES: is not mapped; lives longer
  explicit FilePieces(InputFile* file) : file_(*file) {}

  bool Next(TextPiece* piece) override {
    *piece = NewPiece(kPieceBytes);
    while (piece->size < kPieceBytes && status_.ok()) {
      const Result<size_t> got = file_.Read({piece->data.get() + piece->size, kPieceBytes - piece->size});
      if (!got.ok()) status_ = got.error();
      if (!got.ok() || got.value() == 0) break;
      piece->size += got.value();
    }
    consumed_.fetch_add(piece->size, std::memory_order_relaxed);
    return piece->size != 0;
  }

  // What the system said when it refused to go on.
  const Status& status() const { return status_; }

 private:
  InputFile& file_;
  Status status_;
};

}  // namespace opscope
