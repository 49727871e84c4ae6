// A file begins with the mark "PAR1". It ends with the footer, the footer's size in four bytes, the lowest one first, and
// the mark again.
// SPDX-License-Identifier: Apache-2.0
#include "job/parquet_file.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <system_error>

namespace opscope {
namespace {

constexpr std::string_view kMark = "PAR1";
constexpr uint64_t kSizeBytes = 4;

// An open file whose ends are checked.
struct ParquetFile {
  std::ifstream stream;
  uint64_t bytes = 0;
  uint64_t footer_bytes = 0;  // as the file says
};

Error Damaged(const std::string& path, uint64_t bytes) {
  return {ErrorCode::kMalformed,
          path + ": at byte " + std::to_string(bytes) + ": the Parquet file is damaged or ends too early"};
}

Result<ParquetFile> OpenParquet(const std::string& path) {
  ParquetFile file{.stream = std::ifstream(path, std::ios::binary)};
  if (!file.stream) return Error{ErrorCode::kNotFound, path + ": JOB lists this file, but it cannot be opened", errno};
  std::error_code failed;
  file.bytes = std::filesystem::file_size(path, failed);
  if (failed) return Damaged(path, 0);
  std::string head(kMark.size(), '\0'), end(kSizeBytes + kMark.size(), '\0');
  file.stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  file.stream.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  file.stream.read(end.data(), static_cast<std::streamsize>(end.size()));
  if (!file.stream || head != kMark || !end.ends_with(kMark)) return Damaged(path, file.bytes);
  for (size_t i = 0; i < kSizeBytes; ++i)
    file.footer_bytes |= uint64_t{static_cast<unsigned char>(end[i])} << (8 * i);
  return file;
}

}  // namespace

Status CheckParquet(const std::string& path) {
  const Result<ParquetFile> file = OpenParquet(path);
  return file.ok() ? Status() : Status(file.error());
}

Result<bool> ParquetHasColumn(const std::string& path, std::string_view column) {
  Result<ParquetFile> opened = OpenParquet(path);
  if (!opened.ok()) return opened.error();
  ParquetFile& file = opened.value();
  const uint64_t behind = kSizeBytes + kMark.size();
  if (file.footer_bytes + behind > file.bytes) return Damaged(path, file.bytes);
  std::string footer(file.footer_bytes, '\0');
  file.stream.seekg(-static_cast<std::streamoff>(file.footer_bytes + behind), std::ios::end);
  file.stream.read(footer.data(), static_cast<std::streamsize>(footer.size()));
  if (!file.stream) return Damaged(path, file.bytes);
  return footer.find(static_cast<char>(column.size()) + std::string(column)) != std::string::npos;
}

}  // namespace opscope
