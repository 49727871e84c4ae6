// Blocks the calling thread's signals during its lifetime. A handler of the program must not interrupt code that holds
// a lock of the recorder, because it might need the lock or jump away (siglongjmp). And it must not run on a thread
// that the program does not know: threads that are created meanwhile inherit the mask. For slow paths only: two system
// calls.
//
//   const SignalsBlocked blocked;
//   pthread_create(&helper, nullptr, Help, this);
//
// Faults (SIGSEGV, SIGABRT, ...) stay open, because they concern the thread that causes them: crash handlers see a
// crash. Restores errno, too: the profiled program must not see that of the recorder's system calls.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <initializer_list>

namespace opscope {

class SignalsBlocked {
 public:
  SignalsBlocked() : errno_before_(errno) {
    sigset_t all_but_faults;
    sigfillset(&all_but_faults);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&all_but_faults, fault);
    pthread_sigmask(SIG_BLOCK, &all_but_faults, &before_);
  }
  ~SignalsBlocked() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = errno_before_;
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  const int errno_before_;
  sigset_t before_;
};

}  // namespace opscope
