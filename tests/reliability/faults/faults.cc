// Defines malloc, mmap, open, write, ... in the test program itself. The dynamic linker binds the calls of all
// libraries to these definitions, so the code under test needs no hook and no change. A call either fails with the
// armed errno or goes on to the system call directly.
//
// With the address sanitizer malloc belongs to the sanitizer, and operator new is replaced instead.
// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace faults {
namespace {

std::atomic<bool> is_armed{false};
std::atomic<uint64_t> calls{0};
Fault armed;
uint64_t armed_at = 0;

// errno of the failure that this call is to have; -1: none.
int FailureOf(Call call) {
  if (!is_armed.load(std::memory_order_acquire) || call != armed.call) return -1;
  const uint64_t number = calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if (armed_at == 0 || number < armed_at || (number > armed_at && !armed.persists)) return -1;
  return armed.number;
}

bool Fails(Call call) {
  const int number = FailureOf(call);
  if (number < 0) return false;
  errno = number;
  return true;
}

// The part of `size` bytes that this call may take; 0: it fails, errno says why.
size_t Share(Call call, size_t size) {
  const int number = FailureOf(call);
  if (number < 0) return size;
  if (number == 0) return size > 1 ? size / 2 : size;
  errno = number;
  return 0;
}

}  // namespace

void Arm(const Fault& fault, uint64_t at) {
  armed = fault;
  armed_at = at;
  calls.store(0, std::memory_order_relaxed);
  is_armed.store(true, std::memory_order_release);
}

uint64_t Disarm() {
  is_armed.store(false, std::memory_order_release);
  return calls.load(std::memory_order_relaxed);
}

}  // namespace faults

using faults::Call;
using faults::Fails;

#define FAULTS_EXPORT __attribute__((visibility("default")))

#ifdef __SANITIZE_ADDRESS__

// The sanitizer has malloc for itself.
namespace {
void* NewOrNull(size_t size, size_t alignment) {
  if (Fails(Call::kAllocate)) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void* NewOrThrow(size_t size, size_t alignment = 0) {
  void* place = NewOrNull(size, alignment);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}
}  // namespace

FAULTS_EXPORT void* operator new(size_t size) {
  return NewOrThrow(size);
}
FAULTS_EXPORT void* operator new[](size_t size) {
  return NewOrThrow(size);
}
FAULTS_EXPORT void* operator new(size_t size, std::align_val_t alignment) {
  return NewOrThrow(size, static_cast<size_t>(alignment));
}
FAULTS_EXPORT void* operator new[](size_t size, std::align_val_t alignment) {
  return NewOrThrow(size, static_cast<size_t>(alignment));
}
FAULTS_EXPORT void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return NewOrNull(size, 0);
}
FAULTS_EXPORT void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return NewOrNull(size, 0);
}
FAULTS_EXPORT void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return NewOrNull(size, static_cast<size_t>(alignment));
}
FAULTS_EXPORT void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return NewOrNull(size, static_cast<size_t>(alignment));
}
FAULTS_EXPORT void operator delete(void* place) noexcept {
  std::free(place);
}
FAULTS_EXPORT void operator delete[](void* place) noexcept {
  std::free(place);
}
FAULTS_EXPORT void operator delete(void* place, size_t) noexcept {
  std::free(place);
}
FAULTS_EXPORT void operator delete[](void* place, size_t) noexcept {
  std::free(place);
}
FAULTS_EXPORT void operator delete(void* place, std::align_val_t) noexcept {
  std::free(place);
}
FAULTS_EXPORT void operator delete[](void* place, std::align_val_t) noexcept {
  std::free(place);
}
FAULTS_EXPORT void operator delete(void* place, size_t, std::align_val_t) noexcept {
  std::free(place);
}
FAULTS_EXPORT void operator delete[](void* place, size_t, std::align_val_t) noexcept {
  std::free(place);
}

#else

extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* place, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

FAULTS_EXPORT void* malloc(size_t size) noexcept {
  return Fails(Call::kAllocate) ? nullptr : __libc_malloc(size);
}
FAULTS_EXPORT void* calloc(size_t count, size_t size) noexcept {
  return Fails(Call::kAllocate) ? nullptr : __libc_calloc(count, size);
}
FAULTS_EXPORT void* realloc(void* place, size_t size) noexcept {
  return Fails(Call::kAllocate) ? nullptr : __libc_realloc(place, size);
}
FAULTS_EXPORT void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return Fails(Call::kAllocate) ? nullptr : __libc_memalign(alignment, size);
}
FAULTS_EXPORT void* memalign(size_t alignment, size_t size) noexcept {
  return Fails(Call::kAllocate) ? nullptr : __libc_memalign(alignment, size);
}
FAULTS_EXPORT int posix_memalign(void** place, size_t alignment, size_t size) noexcept {
  void* made = Fails(Call::kAllocate) ? nullptr : __libc_memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *place = made;
  return 0;
}

}  // extern "C"

#endif

extern "C" {

FAULTS_EXPORT void* mmap(void* address, size_t size, int protection, int flags, int descriptor, off_t at) noexcept {
  if (Fails(Call::kMap)) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, descriptor, at));
}

FAULTS_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                                 void* context) noexcept {
  if (const int number = faults::FailureOf(Call::kThread); number >= 0) return number;
  static const auto next = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, run, context);
}

FAULTS_EXPORT int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  if (Fails(Call::kOpen)) return -1;
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

FAULTS_EXPORT ssize_t write(int descriptor, const void* bytes, size_t size) {
  const size_t share = faults::Share(Call::kWrite, size);
  return share == 0 && size != 0 ? -1 : syscall(SYS_write, descriptor, bytes, share);
}

FAULTS_EXPORT ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t at) {
  const size_t share = faults::Share(Call::kWrite, size);
  return share == 0 && size != 0 ? -1 : syscall(SYS_pwrite64, descriptor, bytes, share, at);
}

FAULTS_EXPORT int fallocate(int descriptor, int mode, off_t at, off_t size) {
  if (Fails(Call::kSpace)) return -1;
  return static_cast<int>(syscall(SYS_fallocate, descriptor, mode, at, size));
}

FAULTS_EXPORT int ftruncate(int descriptor, off_t size) noexcept {
  if (Fails(Call::kSpace)) return -1;
  return static_cast<int>(syscall(SYS_ftruncate, descriptor, size));
}

FAULTS_EXPORT int close(int descriptor) {
  const bool fails = Fails(Call::kClose);
  const int number = errno;
  const auto closed = static_cast<int>(syscall(SYS_close, descriptor));
  if (!fails) return closed;
  errno = number;
  return -1;
}

FAULTS_EXPORT int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (Fails(Call::kRename)) return -1;
  return static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

FAULTS_EXPORT int rename(const char* from, const char* to) noexcept {
  if (Fails(Call::kRename)) return -1;
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

}  // extern "C"
