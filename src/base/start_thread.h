// Starts a thread of opscope's own, on which no signal handler of the program runs (signals_blocked.h).
//
//   std::thread helper;
//   OPSCOPE_TRY(StartThread([&] { Help(); }, &helper));      "no thread could be started: Resource temporarily ..."
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/signals_blocked.h"
#include "base/system_error.h"
#include "opscope/result.h"

namespace opscope {

// kIo: the system refuses, for example at the limit of processes of a user. Throws std::bad_alloc.
[[nodiscard]] inline Status StartThread(std::function<void()> work, std::thread* thread) {
  const SignalsBlocked blocked;
  try {
    *thread = std::thread(std::move(work));
  } catch (const std::system_error& error) {
    return SystemErrorFor("no thread could be started", error.code().value(), ErrorCode::kIo);
  }
  return {};
}

}  // namespace opscope
