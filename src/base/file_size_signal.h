// A write beyond the limit on the size of files (ulimit -f) gives EFBIG, and SIGXFSZ besides, which ends a process
// that does not see to it. While an object of this class lives the calling thread gets the number alone.
//
// Thread rule: one thread; the signal is sent to the thread that writes, so the mask of that thread suffices.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <time.h>

#include <cerrno>

namespace opscope {

class FileSizeSignalHeld {
 public:
  FileSizeSignalHeld() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeSignalHeld() {
    if (sigismember(&before_, SIGXFSZ) == 0) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
  FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;

  // To be called when a write gave EFBIG: takes the signal that came with it. errno stays.
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
