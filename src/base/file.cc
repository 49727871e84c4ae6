// Writes a file atomically: an unnamed file (O_TMPFILE) in the target's folder gets a temporary name only
// to be renamed over the target. A process that is killed meanwhile leaves nothing behind, and readers see
// the old file or the new one. Where the file system has no unnamed files, a named temporary file is
// created and noted for signal handlers (temporary_names.h).
//
// Details that plain rename(2) gets wrong: a symbolic link of the user stays a link, a link of another user
// is replaced; the mode of the replaced file is kept; /dev/stdout and pipes are written directly; EINTR is
// no error.
// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "base/file_size_signal.h"
#include "base/system_error.h"
#include "base/temporary_names.h"

namespace opscope {
namespace {

// Attempts to find a free name: a process with the same pid may have left its files, after a kill or on another machine
// that shares the folder.
constexpr int kMaxNames = 1000;

// Unique among the threads of this process and the running processes of this machine.
std::string TemporaryName(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return path + ".tmp" + std::to_string(getpid()) + "." +
         std::to_string(counter.fetch_add(1, std::memory_order_relaxed));
}

// A path to the open file, by which linkat gives an unnamed file its name.
std::string NameOfDescriptor(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

// The new file gets the mode of the file that it replaces, unless that belongs to another user.
void CopyMode(const std::string& replaced, int descriptor) {
  struct stat facts;
  if (lstat(replaced.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  if (facts.st_uid == geteuid() || geteuid() == 0) fchmod(descriptor, facts.st_mode & 0777);
}

// open that goes on after a signal (EINTR).
int OpenRetrying(const std::string& path, int flags, unsigned mode = 0666) {
  int descriptor;
  do {
    descriptor = open(path.c_str(), flags, mode);
  } while (descriptor < 0 && errno == EINTR);
  return MoveAboveStderr(descriptor);
}

// In a folder that all may write to, a foreign link must not choose which of our files is replaced.
bool IsOurLink(const std::string& path) {
  struct stat facts;
  return lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode) && (facts.st_uid == geteuid() || facts.st_uid == 0);
}

// The target of a symbolic link of this user, existing or not; the path itself if it is no link.
std::string ResolveLinks(const std::string& path) {
  constexpr int kMaxLinks = 40;  // as the kernel
  std::string at = path;
  char text[PATH_MAX];
  for (int i = 0; i < kMaxLinks && IsOurLink(at); ++i) {
    const ssize_t size = readlink(at.c_str(), text, sizeof(text));
    if (size <= 0 || size == static_cast<ssize_t>(sizeof(text))) return at;
    const std::string_view to(text, static_cast<size_t>(size));
    const size_t folder = to.front() == '/' ? std::string::npos : at.rfind('/');
    at = (folder == std::string::npos ? std::string() : at.substr(0, folder + 1)).append(to);
  }
  return at;
}

}  // namespace

Result<InputFile> InputFile::Open(const std::string& path) {
  const int descriptor = OpenRetrying(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemErrorFor(path, errno);
  InputFile file(path, descriptor);
  file.owned_ = UniqueDescriptor(descriptor);
  OPSCOPE_TRY(file.FindSize());
  return file;
}

Result<InputFile> InputFile::FromDescriptor(int descriptor, std::string name) {
  InputFile file(std::move(name), descriptor);
  OPSCOPE_TRY(file.FindSize());
  return file;
}

Status InputFile::FindSize() {
  struct stat facts;
  if (fstat(descriptor_, &facts) != 0) return SystemErrorFor(path_, errno);
  if (S_ISDIR(facts.st_mode)) return SystemErrorFor(path_, EISDIR);
  if (!S_ISREG(facts.st_mode)) return {};
  const off_t at = lseek(descriptor_, 0, SEEK_CUR);
  size_ = static_cast<uint64_t>(std::max<off_t>(facts.st_size - std::max<off_t>(at, 0), 0));
  posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);  // advice: a refusal changes nothing
  return {};
}

Result<size_t> InputFile::Read(std::span<std::byte> into) {
  while (true) {
    const ssize_t got = read(descriptor_, into.data(), into.size());
    if (got >= 0) return static_cast<size_t>(got);
    if (errno == EAGAIN) {  // a foreign descriptor in non-blocking mode
      pollfd arrival{descriptor_, POLLIN, 0};
      if (poll(&arrival, 1, -1) >= 0) continue;
    }
    if (errno != EINTR) return SystemErrorFor(path_, errno);
  }
}

Result<AtomicFile> AtomicFile::Create(const std::string& path, unsigned mode) {
  AtomicFile file;
  file.path_ = path;
  file.target_ = ResolveLinks(path);
  struct stat facts;
  const bool exists = stat(path.c_str(), &facts) == 0;
  if (!exists && errno == ELOOP) return SystemErrorFor(path, ELOOP);
  if (exists && S_ISDIR(facts.st_mode)) return SystemErrorFor(path, EISDIR);
  const bool direct = exists && !S_ISREG(facts.st_mode);
  if (direct) {
    file.descriptor_ = OpenRetrying(path, O_WRONLY | O_CLOEXEC);
  } else {
    file.OpenTemporary(mode);
  }
  if (file.descriptor_ < 0) return SystemErrorFor(path, errno);
  const bool is_private = (mode & 077) == 0;  // also when what it replaces was not
  if (!direct && !is_private) CopyMode(file.target_, file.descriptor_);
  return file;
}

void AtomicFile::OpenTemporary(unsigned mode) {
  if (OpenUnnamed(mode)) return;
  for (int i = 0; i < kMaxNames; ++i) {
    SetName(TemporaryName(target_));
    descriptor_ = OpenRetrying(temporary_, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ >= 0) return;
    const int error = errno;
    ForgetName();
    errno = error;
    if (error != EEXIST) return;
  }
}

// False: the file system has no unnamed files, or /proc, which is needed to name them, is not mounted.
bool AtomicFile::OpenUnnamed(unsigned mode) {
  const size_t slash = target_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : target_.substr(0, slash + 1);
  descriptor_ = OpenRetrying(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (descriptor_ < 0) return false;
  is_unnamed_ = access(NameOfDescriptor(descriptor_).c_str(), F_OK) == 0;
  if (!is_unnamed_) close(std::exchange(descriptor_, -1));
  return is_unnamed_;
}

int AtomicFile::LinkBeside() {
  const std::string self = NameOfDescriptor(descriptor_);
  for (int i = 0; i < kMaxNames; ++i) {
    SetName(TemporaryName(target_));
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
    const int error = errno;
    ForgetName();
    if (error != EEXIST) return error;
  }
  return EEXIST;
}

// Called before the file is created, so that a signal handler already knows the name, and a failed allocation leaves no
// file.
void AtomicFile::SetName(std::string name) {
  temporary_ = std::move(name);
  registered_at_ = RegisterTemporary(temporary_.c_str());
}

void AtomicFile::ForgetName() {
  UnregisterTemporary(std::exchange(registered_at_, -1));
  temporary_.clear();
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      registered_at_(std::exchange(other.registered_at_, -1)),
      is_unnamed_(other.is_unnamed_),
      descriptor_(std::exchange(other.descriptor_, -1)) {
  other.temporary_.clear();
}

AtomicFile::~AtomicFile() {
  Abandon();
}

void AtomicFile::Abandon() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) unlink(temporary_.c_str());
  ForgetName();
}

Error AtomicFile::SystemError(const char* what) {
  const int number = errno;
  Abandon();
  Error error = SystemErrorFor(path_, number, ErrorCode::kIo);
  error.message += std::string(" (") + what + ")";
  return error;
}

Status AtomicFile::Write(std::string_view bytes) {
  if (descriptor_ < 0) return Error{ErrorCode::kIo, path_ + ": the file is no longer open", EBADF};
  FileSizeSignalBlocker signal;
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EFBIG) signal.Take();
    if (written == 0) errno = EIO;  // POSIX has no meaning for it
    if (written <= 0) return SystemError("while writing");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status AtomicFile::Commit() {
  if (descriptor_ < 0) return Error{ErrorCode::kIo, path_ + ": the file is no longer open", EBADF};
  if (is_unnamed_) {
    errno = LinkBeside();
    if (errno != 0) return SystemError("while it is given a name");
  }
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) return SystemError("while closing");
  if (temporary_.empty()) return {};
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return SystemError("while renaming");
  ForgetName();
  return {};
}

Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  Result<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.error();
  OPSCOPE_TRY(file.value().Write(bytes));
  return file.value().Commit();
}

}  // namespace opscope
