// Files as the library needs them: a read-only mapping of a whole file, and a file that appears under
// its name only when it is complete. Errors name the path and keep errno.
//
// Thread rule: one thread at a time per object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "opscope/result.h"

namespace opscope {

// The bytes of a file: mapped, or read into memory where the system cannot map (pipes, /dev/stdin).
// A mapped file that somebody else cuts while it is read is beyond help (SIGBUS), as everywhere.
class FileBytes {
 public:
  // kNotFound: no such file. kIo: a directory, no permission, any other refusal.
  static Result<FileBytes> Open(const std::string& path);
  // Reads them into memory in any case: of a file that somebody writes to, or cuts, meanwhile.
  static Result<FileBytes> Read(const std::string& path);

  FileBytes(FileBytes&& other) noexcept;
  FileBytes& operator=(FileBytes&& other) noexcept;
  ~FileBytes();

  std::span<const std::byte> bytes() const { return bytes_; }
  bool is_mapped() const { return mapped_; }  // pages that are dropped can be read again

 private:
  FileBytes() = default;
  static Result<FileBytes> ReadWhole(int descriptor, const std::string& path);
  void Swap(FileBytes& other) noexcept;

  std::span<const std::byte> bytes_;
  bool mapped_ = false;
  std::string read_;  // when not mapped
};

// Writes beside the final name and renames at Commit; destroyed before that, nothing stays.
// A path that exists and is not a regular file (/dev/stdout, a pipe) is written directly. A symbolic link of this
// user stays, and the file that it leads to is replaced; one of somebody else is replaced. A process that is killed
// meanwhile leaves NAME.tmpPID.N beside the name.
class AtomicFile {
 public:
  // mode: of the new file, less the umask.
  static Result<AtomicFile> Create(const std::string& path, unsigned mode = 0666);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  [[nodiscard]] Status Write(std::string_view bytes);
  [[nodiscard]] Status Commit();

 private:
  AtomicFile() = default;
  void OpenTemporary(unsigned mode);  // errno says why there is no descriptor
  Error SystemError(const char* what);
  void Abandon();

  std::string path_;       // as it was given
  std::string target_;     // the same behind its symbolic links
  std::string temporary_;  // empty: written directly
  int descriptor_ = -1;
};

[[nodiscard]] Status WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace opscope
