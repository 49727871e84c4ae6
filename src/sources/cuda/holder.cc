// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/holder.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <vector>

#include "opscope/cuda_source.h"
#include "sources/cuda/cupti_verdict.h"
#include "sources/cuda/timed_calls.h"

namespace opscope::cuda {
namespace {

using cupti::ActivityKind;
using cupti::Result;
using std::chrono::milliseconds;

// Stop has five seconds in all, whichever of its calls hangs: a flush the most of them.
constexpr milliseconds kForAll{4500}, kForFlush{3000}, kForOne{250}, kForStart{4000}, kForLate{100};

// Kinds that one may be without.
constexpr ActivityKind kKinds[] = {ActivityKind::kMemcpy,  ActivityKind::kMemcpy2, ActivityKind::kMemset,
                                   ActivityKind::kRuntime, ActivityKind::kDriver,  ActivityKind::kOverhead,
                                   ActivityKind::kContext, ActivityKind::kStream};

Deadline After(milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

std::atomic<Holder*> the_one{nullptr};

void IgnoreCallback(void*, cupti::CallbackDomain, uint32_t, const void*) {
}

}  // namespace

Holder& Holder::Get() {
  static Holder& holder = *[] {
    auto* made = new Holder(&LoadedCupti());
    the_one.store(made);
    return made;
  }();
  return holder;
}

Holder* Holder::GetIfUsed() {
  return the_one.load();
}

std::string Holder::Why(Result answer, const char* function) const {
  const char* name = nullptr;
  library_->call.GetResultString(answer, &name);
  const std::string code = NameOfCode(answer, name);
  return opscope::cuda::WhyNot(WordsOf(answer, code), function, code);
}

// Somebody else has subscribed. Whether that one records is asked where CUPTI can be asked.
std::string Holder::InUse() {
  const std::string in_use = Why(Result::kMultipleSubscribersNotSupported, "cuptiSubscribe");
  if (library_->call.ActivityGetEnabledKinds != nullptr) {
    uint32_t kinds = 0;
    const Result answer = library_->call.ActivityGetEnabledKinds(nullptr, nullptr, nullptr, &kinds);
    return answer == Result::kSuccess && kinds == 0 ? "" : in_use;
  }
  return torch_profiled_.load() ? "" : in_use;
}

std::string Holder::Subscribe() {
  if (subscriber_ != nullptr) return {};  // it could not be given back
  const CuptiFunctions& call = library_->call;
  Result answer = Result::kSuccess;
  if (call.Subscribe_v2 != nullptr) {
    cupti::SubscriberParams params{};
    params.struct_size = offsetof(cupti::SubscriberParams, allow_multiple_subscribers);
    params.subscriber_name = "opscope";
    answer = call.Subscribe_v2(&subscriber_, &IgnoreCallback, nullptr, &params);
  } else if (call.Subscribe != nullptr) {
    answer = call.Subscribe(&subscriber_, &IgnoreCallback, nullptr);
  } else {
    return {};
  }
  if (answer == Result::kSuccess) return {};
  subscriber_ = nullptr;
  return answer == Result::kMultipleSubscribersNotSupported ? InUse() : Why(answer, "cuptiSubscribe");
}

Result Holder::Enable(ActivityKind kind) {
  if (enabled_.contains(kind)) return Result::kSuccess;
  const Result answer = library_->call.ActivityEnable(kind);
  if (answer == Result::kSuccess) enabled_.insert(kind);
  return answer;
}

std::string Holder::EnableKinds(uint32_t flags) {
  const Result answer = Enable(ActivityKind::kConcurrentKernel);
  if (answer != Result::kSuccess) return Why(answer, "cuptiActivityEnable");
  for (const ActivityKind kind : kKinds)
    Enable(kind);
  if ((flags & cuda_source_flags::kSynchronization) != 0) {
    Enable(ActivityKind::kSynchronization);
    if (Enable(ActivityKind::kCudaEvent) == Result::kSuccess &&
        library_->call.ActivityEnableCudaEventDeviceTimestamps != nullptr) {
      library_->call.ActivityEnableCudaEventDeviceTimestamps(1);
    }
  }
  if ((flags & cuda_source_flags::kMemory) != 0) Enable(ActivityKind::kMemory2);
  if ((flags & cuda_source_flags::kGraphs) != 0) Enable(ActivityKind::kGraphTrace);
  const bool is_new = !enabled_.contains(ActivityKind::kDevice);
  if (is_new && library_->call.ActivityEnableAndDump != nullptr &&
      library_->call.ActivityEnableAndDump(ActivityKind::kDevice) == Result::kSuccess) {
    enabled_.insert(ActivityKind::kDevice);
  }
  return {};
}

std::string Holder::Open(uint32_t flags) {
  if (open_ == 0) {
    has_used_.store(true);
    if (std::string why = Subscribe(); !why.empty()) return why;
    const Result answer =
        library_->call.ActivityRegisterCallbacks(&Collector::RequestBuffer, &Collector::CompleteBuffer);
    if (answer != Result::kSuccess) return Why(answer, "cuptiActivityRegisterCallbacks");
    if (library_->call.SetThreadIdType != nullptr) library_->call.SetThreadIdType(cupti::ThreadIdType::kSystem);
  }
  return EnableKinds(flags);
}

std::string Holder::Begin(const std::shared_ptr<DeviceWindow>& window) {
  if (is_forked_.load()) return opscope::cuda::WhyNot(kForked, "", "");
  if (!library_->is_usable()) return library_->why_not;
  const Deadline deadline = After(kForStart);
  const std::unique_lock lock(mutex_, deadline);
  if (!lock.owns_lock()) return opscope::cuda::WhyNot(kInUse, "", "");
  if (collector_ == nullptr) {
    collector_ = new Collector(library_);
    collector_->Install();
  }
  if (!collector_->Start()) return "CUDA is not recorded: no thread could be had";
  if (open_ == 0) collector_->pool()->Prepare(2, BufferPool::kDefaultCap);
  const auto answer = std::make_shared<std::string>();
  const bool has_answered = RunBefore(deadline, [this, answer, flags = window->flags()] { *answer = Open(flags); });
  std::string why = has_answered ? *answer : "CUDA is not recorded: CUPTI does not answer";
  if (why.empty() && !collector_->Add(window, ReadClockPair(), deadline)) {
    why = "CUDA is not recorded: CUPTI does not answer";
  }
  if (why.empty()) {
    ++open_;
  } else if (open_ == 0 && has_answered) {
    Close(window.get(), After(kForAll));
  }
  return why;
}

// Of the context that the calling thread has, if any: a driver that nobody has loaded has none.
void Holder::WaitForDevice() const {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return;
  const auto current = reinterpret_cast<int (*)(cupti::CudaContext*)>(dlsym(driver, "cuCtxGetCurrent"));
  const auto synchronize = reinterpret_cast<int (*)()>(dlsym(driver, "cuCtxSynchronize"));
  cupti::CudaContext context = nullptr;
  if (current != nullptr && synchronize != nullptr && current(&context) == 0 && context != nullptr) synchronize();
  dlclose(driver);
}

template <typename Work>
void Holder::Step(DeviceWindow* window, const char* function, Deadline deadline, const Work& work) {
  const auto answer = std::make_shared<Result>(Result::kSuccess);
  if (!RunBefore(deadline, [answer, work] { *answer = work(); })) {
    window->problems().timeouts = 1;
    return;
  }
  if (*answer == Result::kSuccess) return;
  const char* name = nullptr;
  library_->call.GetResultString(*answer, &name);
  ++window->problems().failed_calls[std::string(function) + ": " + NameOfCode(*answer, name)];
  const bool is_flush = std::string_view(function) == "cuptiActivityFlushAll";
  window->problems().lost_by_failed_calls = window->problems().lost_by_failed_calls || is_flush;
}

void Holder::NoteDropped(DeviceWindow* window, Deadline deadline) {
  const auto dropped = std::make_shared<size_t>(0);
  Step(window, "cuptiActivityGetNumDroppedRecords", deadline,
       [call = &library_->call, dropped] { return call->ActivityGetNumDroppedRecords(nullptr, 0, dropped.get()); });
  if (*dropped == 0) return;
  collector_->ForEachOpen(deadline, [&](DeviceWindow* open) { open->problems().dropped += *dropped; });
}

void Holder::Collect(DeviceWindow* window, bool is_last, Deadline deadline) {
  const Deadline for_flush = std::min(deadline, After(kForFlush));
  const CuptiFunctions* call = &library_->call;
  const auto flush = [&](uint32_t how) {
    if (window->problems().timeouts > 0) return;
    Step(window, "cuptiActivityFlushAll", for_flush, [call, how] { return call->ActivityFlushAll(how); });
  };
  flush(0);
  if (is_last) flush(cupti::kFlushForced);  // of others' windows it would tear what is not finished
  collector_->Drain(deadline);
  // What a flush has promised may come from a thread of CUPTI's a little later.
  const Deadline for_late = std::min(deadline, After(kForLate));
  while (is_last && collector_->pool()->with_cupti() > 0 && std::chrono::steady_clock::now() < for_late) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  if (!collector_->Drain(deadline)) window->problems().timeouts = 1;
  NoteDropped(window, std::min(deadline, After(kForOne)));
}

void Holder::Close(DeviceWindow* window, Deadline deadline) {
  if (subscriber_ != nullptr && library_->call.Unsubscribe != nullptr) {
    const auto given_back = std::make_shared<std::atomic<bool>>(false);
    Step(window, "cuptiUnsubscribe", std::min(deadline, After(kForOne)),
         [call = &library_->call, subscriber = subscriber_, given_back] {
           const Result answer = call->Unsubscribe(subscriber);
           given_back->store(answer == Result::kSuccess);
           return answer;
         });
    if (given_back->load()) subscriber_ = nullptr;
  }
  collector_->pool()->Release();
}

void Holder::End(const std::shared_ptr<DeviceWindow>& window) {
  if (is_forked_.load()) return;
  WaitForDevice();
  const Deadline deadline = After(kForAll);
  const std::unique_lock lock(mutex_, deadline);
  if (!lock.owns_lock()) return;
  const ClockPair end = ReadClockPair();
  const bool is_last = open_ == 1;
  if (is_last) {
    const CuptiFunctions* call = &library_->call;
    for (const ActivityKind kind : std::exchange(enabled_, {})) {
      if (window->problems().timeouts > 0) break;
      Step(window.get(), "cuptiActivityDisable", std::min(deadline, After(kForOne)),
           [call, kind] { return call->ActivityDisable(kind); });
    }
  }
  Collect(window.get(), is_last, deadline);
  const bool is_ended = collector_->End(window.get(), end, std::max(deadline, After(milliseconds(50))));
  --open_;
  if (is_last) Close(window.get(), deadline);
  if (!is_ended) collector_ = nullptr;  // its thread does not come back: the next window has another one
}

void Holder::Forget(const std::shared_ptr<DeviceWindow>& window) {
  if (is_forked_.load()) return;
  const Deadline deadline = After(kForOne);
  const std::unique_lock lock(mutex_, deadline);
  if (!lock.owns_lock() || collector_ == nullptr) return;
  collector_->Drain(deadline);
  if (open_ == 0) window->problems().late += collector_->pool()->with_cupti();
  collector_->Forget(window.get(), deadline);
}

std::string Holder::WhyNot() {
  if (is_forked_.load()) return opscope::cuda::WhyNot(kForked, "", "");
  if (!library_->is_usable()) return library_->why_not;
  const Deadline deadline = After(kForStart);
  const std::unique_lock lock(mutex_, deadline);
  if (!lock.owns_lock()) return opscope::cuda::WhyNot(kInUse, "", "");
  if (open_ > 0) return {};
  const auto answer = std::make_shared<std::string>();
  const bool has_answered = RunBefore(deadline, [this, answer] {
    has_used_.store(true);
    *answer = Subscribe();
    if (!answer->empty()) return;
    const Result enabled = library_->call.ActivityEnable(ActivityKind::kConcurrentKernel);
    if (enabled != Result::kSuccess) *answer = Why(enabled, "cuptiActivityEnable");
    if (enabled == Result::kSuccess) library_->call.ActivityDisable(ActivityKind::kConcurrentKernel);
    if (subscriber_ == nullptr || library_->call.Unsubscribe == nullptr) return;
    if (library_->call.Unsubscribe(subscriber_) == Result::kSuccess) subscriber_ = nullptr;
  });
  return has_answered ? *answer : "CUDA is not recorded: CUPTI does not answer";
}

}  // namespace opscope::cuda
