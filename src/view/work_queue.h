// Requests that wait for a thread, and answers that wait to be written.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "view/http_request.h"
#include "view/http_response.h"

namespace opscope {

class WorkQueue {
 public:
  // A connection, by number, and what belongs to it.
  using Work = std::pair<uint64_t, HttpRequest>;
  using Done = std::pair<uint64_t, HttpResponse>;

  void Put(Work work);
  // Waits for work. nullopt: End was called.
  std::optional<Work> Take();
  // The answer to what Take gave.
  void Finish(Done done);
  std::vector<Done> TakeDone();
  void End();
  // After End: waits for what runs. False: it still runs.
  bool WaitUntilIdle(int64_t ms);

 private:
  Mutex mutex_;
  ConditionVariable arrived_, finished_;
  std::deque<Work> waiting_ OPSCOPE_GUARDED_BY(mutex_);
  std::vector<Done> done_ OPSCOPE_GUARDED_BY(mutex_);
  size_t running_ OPSCOPE_GUARDED_BY(mutex_) = 0;
  bool ends_ OPSCOPE_GUARDED_BY(mutex_) = false;
};

}  // namespace opscope
