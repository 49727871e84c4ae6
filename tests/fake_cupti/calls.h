// Calls of CUDA as CUPTI sees them: correlation ids, records of calls, external ids that a tool pushes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "rules.h"
#include "sources/cuda/cupti_abi.h"

namespace fake {

class ApiCall {
 public:
  // Takes a correlation id and the time.
  ApiCall(cupti::CallbackDomain domain, std::uint32_t cbid);
  // REQUIRES: the lock is held. Writes the records of the call.
  void Finish();

  std::uint32_t correlation() const { return correlation_; }
  std::uint64_t begin() const { return begin_; }

 private:
  cupti::CallbackDomain domain_;
  std::uint32_t cbid_;
  std::uint32_t correlation_;
  std::uint64_t begin_;
};

// These act on the ids of the calling thread.
void PushExternalId(cupti::ExternalCorrelationKind kind, std::uint64_t id);
bool PopExternalId(cupti::ExternalCorrelationKind kind, std::uint64_t* id);
std::uint32_t ThreadId();        // in the form of the records: gettid or pthread_self
std::uint64_t BufferOfThread();  // owner of the buffer for its records

void ResetCalls();

}  // namespace fake
