// Measures the hot path on a stream over one chunk that starts anew with every run. The stream belongs to no window and
// no thread's list has it, so no recording gets these events, and scopes that the thread has open in real windows do
// not change the figures. Every figure is a median of short runs: on a busy machine the mean would be that of the
// interruptions.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/overhead.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <new>

#include "base/json_object.h"
#include "base/short_runs.h"
#include "opscope/scope.h"
#include "recorder/chunk_pool.h"
#include "recorder/registry.h"

namespace opscope {
namespace {

constexpr uint32_t kEvents = 96;  // per run
constexpr uint32_t kNested = 32;  // open at once
constexpr double kShare = 1.0 / kEvents;

struct Figures {
  double scope_inside_ns = 0;
  double scope_begin_ns = 0;
  double scope_end_ns = 0;
  double async_end_ns = 0;
  double point_ns = 0;
  double scope_ns() const { return scope_begin_ns + scope_end_ns; }
};
struct RecordingOverhead {
  std::atomic<int> measured_by{0};    // process that measures or has measured
  std::atomic<bool> is_known{false};  // the figures are constant from here on
  Figures figures;
};
constinit RecordingOverhead overhead;

// A stream over one chunk that starts anew with every run.
class ScratchStream {
 public:
  explicit ScratchStream(Thread* thread) : state_(new (std::nothrow) StreamState), chunk_(TakeChunk(kChunkBytes)) {
    if (!ready()) return;
    state_->stream.thread = thread;
    state_->stream.internal = state_.get();
    state_->stream.chunk = new (chunk_) ChunkHeader;
    StartAccepting(&state_->stream, ~uint64_t{0});  // as no window has it
  }
  ~ScratchStream() {
    if (chunk_ != nullptr) ReturnChunk(chunk_, kChunkBytes);
  }
  ScratchStream(const ScratchStream&) = delete;
  ScratchStream& operator=(const ScratchStream&) = delete;

  bool ready() const { return state_ != nullptr && chunk_ != nullptr; }

  Stream* Restart() {
    Stream* stream = &state_->stream;
    stream->next = first();
    stream->limit = reinterpret_cast<char*>(chunk_) + kChunkBytes;
    stream->published = uint64_t{kChunkBytes} << 32;
    std::fill(std::begin(stream->stable_names), std::end(stream->stable_names), NameCacheEntry{});
    std::fill(std::begin(stream->copied_names), std::end(stream->copied_names), NameCacheEntry{});
    state_->names.Clear();
    return stream;
  }
  // Sum of the durations of this run's records, in ticks.
  double RecordedTicks() const {
    double sum = 0;
    for (const Record* record = first(); record != state_->stream.next; ++record)
      sum += static_cast<double>(record->value);
    return sum;
  }

 private:
  Record* first() const { return reinterpret_cast<Record*>(chunk_ + 1); }

  std::unique_ptr<StreamState> state_;
  ChunkHeader* chunk_;
};

// What NativeStream does before it knows its answer.
inline Stream* LookUp(Stream* stream) {
  const uint64_t gate = opscope_gate.load(std::memory_order_relaxed);
  const Thread* thread = opscope_tls;
  asm volatile("" : "+r"(stream) : "r"(thread->gate == gate), "r"(thread->native));
  return stream;
}

inline OpenScope* Begin(Stream* stream) {
  stream = LookUp(stream);
  return OpenScopeOn(stream, InternStable(stream, "calibration"), 0, RecordSource::kAnnotation, 0);
}
inline void End(OpenScope* scope) {
  EndScope(scope, ReadTicks());
}

double RunScopes(Stream* stream) {
  const double begin = PreciseNow();
  for (uint32_t i = 0; i < kEvents; ++i)
    End(Begin(stream));
  return (PreciseNow() - begin) * kShare;
}

// Share of a run's time that lies inside its scopes, from ticks alone: no rate of the clock is needed.
double InsideShare(ScratchStream* scratch, Stream* stream) {
  const uint64_t begin = ReadTicks();
  for (uint32_t i = 0; i < kEvents; ++i)
    End(Begin(stream));
  return scratch->RecordedTicks() / static_cast<double>(ReadTicks() - begin);
}

// Share of the begins in the time of begins and ends.
double BeginShare(Stream* stream) {
  OpenScope* open[kNested];
  const double begin = PreciseNow();
  for (OpenScope*& scope : open)
    scope = Begin(stream);
  const double half = PreciseNow();
  for (uint32_t i = kNested; i-- > 0;)
    End(open[i]);
  return (half - begin) / (PreciseNow() - begin);
}

// Two begins, an end that is not the innermost, and an ordinary end.
double RunCrossingScopes(Stream* stream) {
  const double begin = PreciseNow();
  for (uint32_t i = 0; i < kEvents; ++i) {
    OpenScope* crossing = Begin(stream);
    OpenScope* inner = Begin(stream);
    End(crossing);
    End(inner);
  }
  return (PreciseNow() - begin) * kShare;
}

// Instants and flows are the same few instructions.
double RunPoints(Stream* stream) {
  const double begin = PreciseNow();
  for (uint32_t i = 0; i < kEvents; ++i)
    RecordNowOn(LookUp(stream), RecordKind::kCounter, "calibration", i);
  return (PreciseNow() - begin) * kShare;
}

bool HasSlots(Stream* stream) {
  OpenScope* open[kNested];
  bool all = true;
  for (OpenScope*& scope : open)
    all = (scope = Begin(stream)) != nullptr && all;
  for (uint32_t i = kNested; i-- > 0;) {
    if (open[i] != nullptr) End(open[i]);
  }
  return all;
}

Figures Measure(ScratchStream* scratch) {
  const auto [whole, inside_share, begin_share, crossing, point] = MediansOfRuns<5>([scratch] {
    return std::array<double, 5>{RunScopes(scratch->Restart()), InsideShare(scratch, scratch->Restart()),
                                 BeginShare(scratch->Restart()), RunCrossingScopes(scratch->Restart()),
                                 RunPoints(scratch->Restart())};
  });
  Figures figures;
  figures.scope_inside_ns = whole * inside_share;
  figures.scope_begin_ns = whole * begin_share;
  figures.scope_end_ns = whole - figures.scope_begin_ns;
  const double others = whole + figures.scope_begin_ns;  // of the four in RunCrossingScopes
  figures.async_end_ns = std::max(figures.scope_end_ns, crossing - others);
  figures.point_ns = point;
  return figures;
}

void AppendNs(std::string* out, const char* key, double ns) {
  JsonMemberWriter(out).Double(key, std::round(ns * 100) / 100);
}

}  // namespace

void CalibrateOverhead(void (*between)()) {
  const int process = getpid();
  int measured_by = overhead.measured_by.load(std::memory_order_relaxed);
  // A process that was forked while its parent measured measures for itself.
  const bool is_ours = measured_by != process && !overhead.is_known.load(std::memory_order_acquire) &&
                       overhead.measured_by.compare_exchange_strong(measured_by, process);
  Thread* thread = is_ours ? opscope_tls : nullptr;
  if (thread == nullptr) return between();
  ScratchStream scratch(thread);
  if (!scratch.ready() || !HasSlots(scratch.Restart())) return between();
  const Figures before = Measure(&scratch);
  between();
  const Figures after = Measure(&scratch);
  overhead.figures = before.scope_ns() < after.scope_ns() ? before : after;
  overhead.is_known.store(true, std::memory_order_release);
}

void AppendOverhead(std::string* out) {
  if (!overhead.is_known.load(std::memory_order_acquire)) return;
  out->append("\"scope\":{");
  AppendNs(out, "inside_ns", overhead.figures.scope_inside_ns);
  AppendNs(out, "begin_ns", overhead.figures.scope_begin_ns);
  AppendNs(out, "end_ns", overhead.figures.scope_end_ns);
  AppendNs(out, "async_end_ns", overhead.figures.async_end_ns);
  out->append("},\"point\":{");
  AppendNs(out, "begin_ns", overhead.figures.point_ns);
  out->append("}");
}

}  // namespace opscope
