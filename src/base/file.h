// Files as the library needs them: one to read, and one that appears under its name only when it is complete. Errors
// name the path and keep errno.
//
// Thread rule: one thread at a time per object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "opscope/result.h"

namespace opscope {

// A file to read, in order. Never mapped: one that somebody cuts meanwhile would be a SIGBUS, which ends the program
// that we are in.
class InputFile {
 public:
  // kNotFound: no such file. kIo: a directory, no permission, any other refusal.
  static Result<InputFile> Open(const std::string& path);
  // From where the descriptor stands; it is read itself, and not closed. `name` stands for the path in errors.
  static Result<InputFile> OfDescriptor(int descriptor, std::string name);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  uint64_t size() const { return size_; }  // that was to be read when it was opened; 0: nobody knows, or none

  // The next bytes: waits for the first, then gives what is there. 0: the end.
  Result<size_t> Read(std::span<std::byte> into);

 private:
  InputFile(std::string path, int descriptor, bool is_ours)
      : path_(std::move(path)), descriptor_(descriptor), is_ours_(is_ours) {}
  Status FindSize();

  std::string path_;
  uint64_t size_ = 0;
  int descriptor_ = -1;
  bool is_ours_ = true;
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
