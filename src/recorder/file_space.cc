// System calls for a file that memory is mapped from. A plain ftruncate and mmap would be shorter, but a
// store into such a mapping raises SIGBUS when the disk is full, and that ends the profiled job. So every
// page passes two checks first:
//
//   fallocate                reserves the blocks on the disk; a full disk is ENOSPC here
//   MADV_POPULATE_WRITE      makes the pages writable; what would be SIGBUS is EFAULT here
//
// Every call may be interrupted or answer EAGAIN; all loops are bounded.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/file_space.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "base/descriptor.h"
#include "recorder/pages.h"

namespace opscope {
namespace {

constexpr int kMaxRetries = 1000;

// Growing beyond RLIMIT_FSIZE would raise SIGXFSZ.
bool IsBeyondLimit(uint64_t end) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur;
}

// A file system that writes every page to a new place needs room for that at each store, whatever was
// allocated. Where this is refused it is not needed, or cannot be had.
void WriteInPlace(int descriptor) {
  int flags = 0;
  if (ioctl(descriptor, FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_NOCOW_FL;
  ioctl(descriptor, FS_IOC_SETFLAGS, &flags);
}

// For file systems that cannot allocate: as posix_fallocate does.
int WriteZeroes(int descriptor, uint64_t offset, uint64_t bytes) {
  static constexpr char kZeroes[64 * 1024] = {};
  while (bytes > 0) {
    const uint64_t piece = bytes < sizeof(kZeroes) ? bytes : sizeof(kZeroes);
    if (const int error = WriteAll(descriptor, offset, kZeroes, piece); error != 0) return error;
    offset += piece;
    bytes -= piece;
  }
  return 0;
}

}  // namespace

int AllocateSpace(int descriptor, uint64_t offset, uint64_t bytes) {
  if (IsBeyondLimit(offset + bytes)) return EFBIG;
  for (int i = 0; i < kMaxRetries; ++i) {
    if (fallocate(descriptor, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) return 0;
    if (errno == EOPNOTSUPP || errno == ENOSYS) return WriteZeroes(descriptor, offset, bytes);
    if (errno != EINTR) return errno;
  }
  return EINTR;
}

int WriteAll(int descriptor, uint64_t offset, const void* data, uint64_t bytes) {
  if (IsBeyondLimit(offset + bytes)) return EFBIG;
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = pwrite(descriptor, from, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    from += written;
    offset += static_cast<uint64_t>(written);
    bytes -= static_cast<uint64_t>(written);
  }
  return 0;
}

int MakeWritable(void* address, uint64_t bytes) {
#if !defined(MADV_POPULATE_WRITE)
  constexpr int MADV_POPULATE_WRITE = 23;
#endif
  for (int i = 0; i < kMaxRetries; ++i) {
    if (madvise(address, bytes, MADV_POPULATE_WRITE) == 0) return 0;
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno != EINVAL) return errno == EFAULT ? EIO : errno;  // EFAULT: what would have been SIGBUS
    // Before Linux 5.14. The space was allocated, which is all that can be known.
    for (uint64_t at = 0; at < bytes; at += kPageBytes)
      *(static_cast<volatile char*>(address) + at) = 0;
    return 0;
  }
  return EINTR;
}

int CreateTemporary(const char* path, char* name, uint64_t name_bytes, int* descriptor) {
  static std::atomic<uint32_t> created{0};
  struct stat facts;
  if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode)) return S_ISDIR(facts.st_mode) ? EISDIR : EINVAL;
  for (int i = 0; i < kMaxRetries; ++i) {
    const int size = std::snprintf(name, name_bytes, "%s.%d.%u.part", path, static_cast<int>(getpid()),
                                   created.fetch_add(1, std::memory_order_relaxed));
    if (size < 0 || static_cast<uint64_t>(size) >= name_bytes) return ENAMETOOLONG;
    const int created_as = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    const int file = MoveAboveStderr(created_as);
    *descriptor = file;
    if (file >= 0) {
      WriteInPlace(file);
      return 0;
    }
    if (created_as >= 0) {
      const int error = errno;
      unlink(name);
      return error;
    }
    if (errno != EEXIST && errno != EINTR) return errno;
  }
  return EEXIST;
}

}  // namespace opscope
