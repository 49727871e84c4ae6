// A recording is a window of the CUPTI session (cupti_session.h) with a track of its own. Records may come after the
// stop, as CUPTI delivers them late; the track is closed when the session of opscope reads the recording (Deliver).
// SPDX-License-Identifier: Apache-2.0
#include "opscope/cuda_source.h"

#include <pthread.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/text.h"
#include "opscope/window_facts.h"
#include "sources/cuda/collector.h"
#include "sources/cuda/cuda_timer.h"
#include "sources/cuda/cupti_library.h"
#include "sources/cuda/cupti_session.h"
#include "sources/cuda/device_window.h"
#include "sources/streams/failures.h"
#include "sources/streams/window_fact.h"

namespace opscope {
namespace {

using cuda::CuptiSession;
using cuda::DeviceWindow;

constexpr SourceFlag kFlags[] = {{"synchronization", cuda_source_flags::kSynchronization},
                                 {"memory", cuda_source_flags::kMemory},
                                 {"graphs", cuda_source_flags::kGraphs},
                                 {"environment", cuda_source_flags::kEnvironment},
                                 {"graph_edges", cuda_source_flags::kGraphEdges},
                                 {"event_nodes", cuda_source_flags::kEventNodes},
                                 {"host_nodes", cuda_source_flags::kHostNodes}};

struct Session {
  std::shared_ptr<DeviceWindow> window;
  pid_t process = 0;
  bool is_recorded = false;
};

// The window of the recording that began last, and why CUDA is not recorded in it ("": it is).
Mutex last_mutex;
const void* last_window OPSCOPE_GUARDED_BY(last_mutex) = nullptr;
std::string& LastWhyNot() OPSCOPE_REQUIRES(last_mutex) {
  static std::string& text = *new std::string;
  return text;
}

void* Begin(Window* window, uint32_t flags) {
  const TrackOptions options{.name = "CUDA", .end = TrackEnd::kAtRead};
  auto session = std::make_unique<Session>();
  Stream* track = opscope_track_open(window, &options);
  if (track == nullptr) return nullptr;
  session->process = getpid();
  session->window = std::make_shared<DeviceWindow>(window, track, flags, &cuda::ReadClockPair);
  const std::string why_not = CuptiSession::Get().Begin(session->window);
  session->is_recorded = why_not.empty();
  session->window->problems().not_recorded = why_not;
  {
    const MutexLock lock(last_mutex);
    last_window = window;
    LastWhyNot() = why_not;
  }
  if (session->is_recorded) {
    AddWindowFact(window, "cupti_version", std::to_string(cuda::LoadedCupti().version));
  }
  return session.release();
}

void* Start(const Source* /*self*/, Window* window, uint32_t flags, const char** error) {
  const char* unused = nullptr;
  if (error == nullptr) error = &unused;
  *error = "out of memory";
  if (opscope_recorder_abi() != kRecorderAbi) {
    *error = "the recorder library in this process is of another version than the CUDA source";
    return nullptr;
  }
  try {
    return Begin(window, flags);
  } catch (...) {
    return nullptr;
  }
}

void Stop(void* opaque) {
  auto* session = static_cast<Session*>(opaque);
  if (session->process != getpid() || !session->is_recorded) return;
  try {
    CuptiSession::Get().End(session->window);
  } catch (...) {
    CountFailure();
  }
}

void Pause(void* opaque, bool paused) {
  const auto* session = static_cast<const Session*>(opaque);
  if (session->process != getpid() || !session->is_recorded) return;
  try {
    CuptiSession::Get().Pause(session->window, paused);
  } catch (...) {
    CountFailure();
  }
}

void Deliver(void* opaque) {
  const std::unique_ptr<Session> session(static_cast<Session*>(opaque));
  if (session->process != getpid()) return;
  try {
    if (session->is_recorded) CuptiSession::Get().Forget(session->window);
    if (const std::string problems = session->window->problems().Json(); !problems.empty()) {
      AddWindowFact(session->window->window(), kDeviceProblemsKey, problems);
    }
  } catch (...) {
    CountFailure();
  }
  opscope_track_close(session->window->track());
}

const char* CuptiPath() {
  return cuda::LoadedCupti().path.c_str();
}
uint32_t CuptiVersion() {
  return cuda::LoadedCupti().version;
}
void SuggestCupti(const char* file) {
  cuda::SuggestCupti(file);
}
bool IsNamed() {
  return cuda::LoadedCupti().was_named;
}
void WhyNot(char* why, size_t size) {
  CopyText(CuptiSession::Get().CheckAvailable(), why, size);
}
void WhyNotRecorded(const void* window, char* why, size_t size) {
  const MutexLock lock(last_mutex);
  CopyText(window == last_window ? LastWhyNot() : std::string(), why, size);
}
void SetTorchProfiled(bool is_over) {
  CuptiSession::Get().SetTorchProfiled(is_over);
}

void WatchGraphs(bool is_on, char* why, size_t size) {
  std::string text;
  try {
    if (is_on) {
      text = CuptiSession::Get().WatchGraphs();
    } else {
      CuptiSession::Get().LeaveGraphs();
    }
  } catch (...) {
    CountFailure();
    text = "out of memory";
  }
  CopyText(text, why, size);
}

// A forked child has CUPTI's memory but not its threads, so opscope never calls CUPTI there.
__attribute__((constructor)) void WatchForksOfCuda() {
  pthread_atfork(nullptr, nullptr, [] {
    if (CuptiSession* session = CuptiSession::GetIfUsed()) session->ForgetAfterFork();
  });
}

constexpr CudaSource kSource = {.source = {.flag_count = std::size(kFlags),
                                           .name = "cuda",
                                           .flags = kFlags,
                                           .start = &Start,
                                           .stop = &Stop,
                                           .pause = &Pause,
                                           .failures = &FailureCount,
                                           .deliver = &Deliver},
                                .cupti_path = &CuptiPath,
                                .cupti_version = &CuptiVersion,
                                .suggest_cupti = &SuggestCupti,
                                .is_named = &IsNamed,
                                .why_not = &WhyNot,
                                .why_not_recorded = &WhyNotRecorded,
                                .set_torch_profiled = &SetTorchProfiled,
                                .watch_graphs = &WatchGraphs,
                                .start_timer = &cuda::StartTimer,
                                .drain_timer = &cuda::DrainTimer,
                                .stop_timer = &cuda::StopTimer,
                                .push_region = &cuda::PushRegion,
                                .pop_region = &cuda::PopRegion};

}  // namespace
}  // namespace opscope

const opscope::CudaSource* opscope_cuda_source() {
  return &opscope::kSource;
}
const opscope::Source* opscope_source() {
  return &opscope::kSource.source;
}
