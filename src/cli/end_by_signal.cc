// Removes unfinished output files when a signal ends the command, and then ends it by the same signal, so that the
// shell sees the usual status. The handler only calls async-signal-safe functions: unlink, and raise with the default
// action restored (SA_RESETHAND) and the signal unblocked (SA_NODEFER).
// SPDX-License-Identifier: Apache-2.0
#include "cli/end_by_signal.h"

#include <iterator>

#include "base/temporary_names.h"

namespace opscope {
namespace {

// When the handler runs, the default action is restored (SA_RESETHAND) and the signal unblocked (SA_NODEFER).
void UnlinkAndEnd(int number) {
  UnlinkTemporaries();
  raise(number);
}

}  // namespace

TerminationHandlers::TerminationHandlers() {
  static_assert(std::size(kSignals) == sizeof(is_ours_));
  struct sigaction ours{}, before{};
  ours.sa_handler = UnlinkAndEnd;
  ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    is_ours_[i] = sigaction(kSignals[i], nullptr, &before) == 0 && (before.sa_flags & SA_SIGINFO) == 0 &&
                  before.sa_handler == SIG_DFL && sigaction(kSignals[i], &ours, nullptr) == 0;
  }
}

TerminationHandlers::~TerminationHandlers() {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (is_ours_[i]) signal(kSignals[i], SIG_DFL);
}

}  // namespace opscope
