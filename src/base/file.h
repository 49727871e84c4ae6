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

#include "base/descriptor.h"
#include "opscope/result.h"

namespace opscope {

// A file to read, in order. Never mapped: if another process truncates the file, a mapping raises SIGBUS, which ends
// the program.
class InputFile {
 public:
  // kNotFound: no such file. kIo: a directory, no permission, any other refusal.
  static Result<InputFile> Open(const std::string& path);
  // From where the descriptor stands; it is read itself, and not closed. `name` stands for the path in errors.
  static Result<InputFile> FromDescriptor(int descriptor, std::string name);

  uint64_t size() const { return size_; }  // bytes to read when it was opened; 0: unknown, or none

  // The next bytes: waits for the first, then gives what is there. 0: the end.
  Result<size_t> Read(std::span<std::byte> into);

 private:
  InputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  Status FindSize();

  std::string path_;
  uint64_t size_ = 0;
  int descriptor_ = -1;
  UniqueDescriptor owned_;  // the same; none if it is not closed here
};

// Writes a file without a name, gives it one beside the final name and renames it, both at Commit; destroyed before
// that, nothing stays. Where the file system has no files without names it is written beside the final name: a process
// that is killed meanwhile leaves NAME.tmpPID.N there, unless it calls UnlinkTemporaries (temporary_names.h). A path
// that exists and is not a regular file (/dev/stdout, a pipe) is written directly. A file that is replaced gives its
// mode to the new one. A symbolic link of this user stays, and the file that it leads to is replaced; a link of
// another user is replaced.
class AtomicFile {
 public:
  // mode: of the new file, less the umask, where it replaces none or is for its user alone.
  static Result<AtomicFile> Create(const std::string& path, unsigned mode = 0666);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  [[nodiscard]] Status Write(std::string_view bytes);
  [[nodiscard]] Status Commit();

 private:
  AtomicFile() = default;
  void OpenTemporary(unsigned mode);  // errno says why there is no descriptor
  bool OpenUnnamed(unsigned mode);
  int LinkBeside();  // 0, or an errno
  void SetName(std::string name);
  void ForgetName();
  Error SystemError(const char* what);
  void Abandon();

  std::string path_;        // as it was given
  std::string target_;      // the same behind its symbolic links
  std::string temporary_;   // as it is called now; empty: it has no name, or is written directly
  int registered_at_ = -1;  // of RegisterTemporary
  bool is_unnamed_ = false;
  int descriptor_ = -1;
};

[[nodiscard]] Status WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace opscope
