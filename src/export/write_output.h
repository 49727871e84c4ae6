// Runs a format's writer and puts its output into a file or a string.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "export/compress.h"
#include "export/export_output.h"

namespace opscope {

// Passes the pieces that write(ExportOutput*) makes to take. An empty output still needs one compressed member to be
// a valid file.
template <typename Write>
void WritePieces(Compression compression, int gzip_level, ExportOutput::Progress progress,
                 const ExportOutput::Take& take, const Write& write) {
  bool is_empty = true;
  const auto take_piece = [&](std::string_view piece) {
    is_empty = false;
    return take(piece);
  };
  ExportOutput output(compression, gzip_level, take_piece, std::move(progress));
  write(&output);
  if (is_empty) take(BlockCompressor(compression, gzip_level).Compress({}));
}

// Replaces the file only after everything was written.
template <typename Write>
Status WriteToFile(const std::string& path, Compression compression, int gzip_level, ExportOutput::Progress progress,
                   const Write& write) {
  Result<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.error();
  Status status;
  const auto take = [&](std::string_view piece) {
    if (status.ok()) status = file.value().Write(piece);
    return status.ok();
  };
  WritePieces(compression, gzip_level, std::move(progress), take, write);
  if (!status.ok()) return status;
  return file.value().Commit();
}

template <typename Write>
std::string WriteToText(Compression compression, int gzip_level, ExportOutput::Progress progress, const Write& write) {
  std::string text;
  const auto take = [&](std::string_view piece) {
    text.append(piece);
    return true;
  };
  WritePieces(compression, gzip_level, std::move(progress), take, write);
  return text;
}

}  // namespace opscope
