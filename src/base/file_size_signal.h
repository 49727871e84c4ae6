// Blocks SIGXFSZ for the calling thread. A write beyond the file size limit (ulimit -f) fails with EFBIG
// and also raises SIGXFSZ, which ends the process by default. While an object of this class lives, the
// thread gets the errno alone.
//
// Thread rule: one thread; the kernel sends the signal to the writing thread, so its mask suffices.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <time.h>

#include <cerrno>

namespace opscope {

class FileSizeSignalBlocker {
 public:
  FileSizeSignalBlocker() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeSignalBlocker() {
    if (sigismember(&before_, SIGXFSZ) == 0) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalBlocker(const FileSizeSignalBlocker&) = delete;
  FileSizeSignalBlocker& operator=(const FileSizeSignalBlocker&) = delete;

  // Removes the pending signal after a write failed with EFBIG. Does not change errno.
  void Take() {
    const int number = errno;
    const timespec at_once{};
    if (sigismember(&before_, SIGXFSZ) == 0) sigtimedwait(&signal_, nullptr, &at_once);
    errno = number;
  }

 private:
  sigset_t signal_;
  sigset_t before_;
};

}  // namespace opscope
