// Calls of CUDA as CUPTI sees them: correlation ids, records of calls, ids pushed from outside, callbacks of
// subscribers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "rules.h"
#include "sources/cuda/cupti_abi.h"

namespace fake {

class ApiCall {
 public:
  // Without the library's lock: tells the subscriber, and takes a correlation id and the time.
  ApiCall(cupti::CallbackDomain domain, std::uint32_t cbid);
  // With the lock: writes the records.
  void Finish();
  // Without the lock: tells the subscriber.
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

  std::uint32_t correlation() const { return correlation_; }
  std::uint64_t begin() const { return begin_; }            // of CUPTI's clock
  std::uint64_t real_begin() const { return real_begin_; }  // of the devices'

 private:
  void Tell(std::uint32_t site);
  cupti::CallbackDomain domain_;
  std::uint32_t cbid_;
  std::uint32_t correlation_;
  std::uint64_t begin_;
  std::uint64_t real_begin_;
};

// Of the calling thread.
void PushExternalId(cupti::ExternalCorrelationKind kind, std::uint64_t id);
bool PopExternalId(cupti::ExternalCorrelationKind kind, std::uint64_t* id);
std::uint32_t ThreadId();        // as records have it
std::uint64_t BufferOfThread();  // whose buffer its records go into

void ResetCalls();

}  // namespace fake
