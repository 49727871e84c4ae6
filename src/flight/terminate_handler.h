// A terminate handler that reports uncaught exceptions to its listeners and then calls the previous handler, so
// the program ends as it would have. The stack is not unwound then: the scopes around the throw are still
// open.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace opscope {

class TerminateListener {
 public:
  // On the thread that threw; `type` of the exception, empty when there is none.
  virtual void OnUncaughtException(const std::string& type) = 0;

 protected:
  ~TerminateListener() = default;
};

// False: too many listen already.
[[nodiscard]] bool ListenForTerminate(TerminateListener* listener);
// Waits for a notification of the listener in progress.
void StopListening(TerminateListener* listener);

}  // namespace opscope
