// Files as the library needs them: one to read, mapped where that is possible, and one that appears under its name
// only when it is complete. Errors name the path and keep errno.
//
// Thread rule: one thread at a time per object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "opscope/result.h"

namespace opscope {

// A file to read: mapped as a whole, or, where the system cannot map it (pipes, terminals, /proc), read in order.
// A mapped file that somebody else cuts while it is read is beyond help (SIGBUS), as everywhere.
class InputFile {
 public:
  // kNotFound: no such file. kIo: a directory, no permission, any other refusal.
  static Result<InputFile> Open(const std::string& path);
  // Not mapped in any case: of a file that somebody writes to, or cuts, meanwhile.
  static Result<InputFile> OpenInOrder(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  bool is_mapped() const { return descriptor_ < 0; }
  std::span<const std::byte> bytes() const { return bytes_; }  // all of a mapped file; dropped pages come back

  size_t size() const { return size_; }  // 0: nobody knows, or none

  // The next bytes of a file that is not mapped: waits for the first, then gives what is there. 0: the end.
  Result<size_t> Read(std::span<std::byte> into);

 private:
  InputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  std::span<const std::byte> bytes_;
  size_t size_ = 0;
  int descriptor_ = -1;  // when not mapped
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
