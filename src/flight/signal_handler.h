// A handler for the signals that users name, and for no other: it wakes the futexes that wait for the
// signal, and calls the handler that was there before. It is installed for the first user of a signal
// and taken back after the last, unless another handler was installed over it since.
//
// A signal that would have ended the job (SIGTERM without a handler) still does: after the dump,
// and at once when it comes a second time. SIGUSR1, SIGUSR2 and real-time signals are taken for dumps
// and end nothing.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "flight/waiting_futex.h"
#include "opscope/result.h"

namespace opscope {

// kInvalidArgument: a signal that cannot be handled, or that stands for a fault of the program.
[[nodiscard]] Status CheckSignal(int signal);
[[nodiscard]] Status InstallSignalHandler(int signal, WaitingFutex* futex);
void RemoveSignalHandler(int signal, WaitingFutex* futex);

// Does what the signal did before the handler was installed, when that was to end the process.
void RunDefaultAction(int signal);

// "SIGUSR1"; "signal 40" for those without a name.
[[nodiscard]] std::string SignalName(int signal);

}  // namespace opscope
