// Requests that wait for a thread, and responses that wait to be written.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>

#include "base/mutex.h"
#include "view/http_request.h"
#include "view/http_response.h"

namespace opscope {

struct PendingRequest {
  uint64_t connection = 0;  // its number
  HttpRequest request;
};

struct FinishedResponse {
  uint64_t connection = 0;
  std::optional<HttpResponse> response;  // nullopt: there was no memory for one
};

class RequestQueue {
 public:
  // Throws std::bad_alloc; the queue is then as before. No other function allocates.
  void Put(PendingRequest request);
  // Waits for a request. nullopt: End was called.
  std::optional<PendingRequest> Take();
  // Adds the response to a request of Take.
  void Finish(FinishedResponse response);
  std::list<FinishedResponse> TakeFinished();
  void End();
  // After End: waits for running computations. False: some still run.
  bool WaitUntilIdle(int64_t ms);

 private:
  Mutex mutex_;
  ConditionVariable arrived_, has_finished_;
  std::deque<PendingRequest> waiting_ OPSCOPE_GUARDED_BY(mutex_);
  std::list<FinishedResponse> reserved_ OPSCOPE_GUARDED_BY(mutex_);  // at least one for each request without response
  std::list<FinishedResponse> finished_ OPSCOPE_GUARDED_BY(mutex_);
  size_t running_ OPSCOPE_GUARDED_BY(mutex_) = 0;
  bool ends_ OPSCOPE_GUARDED_BY(mutex_) = false;
};

}  // namespace opscope
