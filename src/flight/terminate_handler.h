// A terminate handler while somebody wants to know of exceptions that nobody catches: it tells them, and
// calls the handler that was there before, so the program ends as it would have. The exception has not
// been unwound then: the scopes that it was thrown in are open still.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace opscope {

class TerminateListener {
 public:
  // On the thread that threw; `type` of the exception, empty when there is none.
  virtual void ProgramTerminates(const std::string& type) = 0;

 protected:
  ~TerminateListener() = default;
};

// False: too many listen already.
[[nodiscard]] bool ListenForTerminate(TerminateListener* listener);
// Waits while the listener is being told.
void StopListening(TerminateListener* listener);

}  // namespace opscope
