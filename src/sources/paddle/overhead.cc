// The hooks are called directly. Their fast path needs a name in the read-only memory of Paddle's libraries, so the
// measurement uses a short text found there.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/overhead.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include "base/mutex.h"
#include "base/short_runs.h"
#include "opscope/recorder.h"
#include "sources/got/got_entries.h"
#include "sources/paddle/capture_mode.h"
#include "sources/paddle/hooks.h"
#include "sources/paddle/paddle_library.h"
#include "sources/paddle/ranges.h"
#include "sources/streams/event_cost.h"
#include "sources/streams/failures.h"

namespace opscope {
namespace {

using paddle_layout::RecordEvent;

// What Paddle's GOT entries would call.
struct Hooks {
  paddle_layout::BeginStatic begin;
  paddle_layout::End end;
  const char* name;  // of FindLiteral

  void Begin(RecordEvent* range) const { begin(range, name, static_cast<uint32_t>(PaddleEventType::kOperator), 1, 0); }
};

// A short text in the read-only memory of Paddle's libraries, as a name for the measured events. Null: not found.
const char* FindLiteral() {
  constexpr size_t kLooked = 1 << 16, kLongest = 32;
  const auto* text = reinterpret_cast<const char*>(read_only[0].begin);
  const size_t size = std::min<size_t>(read_only[0].end - read_only[0].begin, kLooked);
  for (size_t at = 0; at + kLongest < size;) {
    const size_t length = strnlen(text + at, kLongest);
    if (length > 0 && length < kLongest) return text + at;
    at += length + 1;
  }
  return nullptr;
}

std::string MeasureAll(const Stream* stream, const Hooks& hooks) {
  const auto run = [&] {
    RecordEvent range;
    hooks.Begin(&range);
    hooks.end(&range);
  };
  const auto begin = [&](RecordEvent* range) { hooks.Begin(range); };
  const auto [whole, inside, begins] = MediansOfRuns<3>([&] {
    return std::array<double, 3>{NsPerEvent(run), InsideShare(stream, run), BeginShare<RecordEvent>(begin, hooks.end)};
  });
  std::string out = "\"paddle_range\":{";
  AppendNs(&out, "inside_ns", whole * inside);
  AppendNs(&out, "begin_ns", whole * begins);
  AppendNs(&out, "end_ns", whole * (1 - begins));
  return out += '}';
}

// REQUIRES: GotLock() is held, so that no window begins to use the hooks meanwhile.
std::string MeasureInScratchWindow(const Hooks& hooks) {
  const ScratchWindow window = OpenScratchWindow();
  if (window == nullptr) return "";
  const uint32_t slot = opscope_window_slot(window.get());
  const Stream* stream = opscope_stream_attach(slot, 0);
  if (stream == nullptr || stream->chunk == nullptr) return "";
  recorded.bindings[slot].Bind(slot, opscope_window_id(window.get()));
  recorded.events.fetch_or(uint64_t{1} << slot);
  std::string text = MeasureAll(stream, hooks);
  recorded.events.fetch_and(~(uint64_t{1} << slot));
  recorded.bindings[slot].Unbind();
  return text;
}

}  // namespace

const char* PaddleOverheadJson(uint32_t /*flags*/) {
  static constinit std::atomic<const std::string*> known{nullptr};  // never destroyed
  try {
    if (ChooseMode() != PaddleMode::kHooks) return "";
    const MutexLock lock(GotLock());
    if (const std::string* text = known.load(std::memory_order_acquire)) return text->c_str();
    if (recorded.events.load() != 0 || PaddleProfilerRuns() || FindPaddle(PaddlePart::kHooks) != nullptr) return "";
    const auto hooks = PaddleHooks();
    const Hooks ours = {reinterpret_cast<paddle_layout::BeginStatic>(hooks[paddle_layout::kBeginStatic]),
                        reinterpret_cast<paddle_layout::End>(hooks[paddle_layout::kEnd]), FindLiteral()};
    if (ours.name == nullptr) return "";
    SetTraceLevel(1);
    std::string text = MeasureInScratchWindow(ours);
    if (text.empty()) return "";  // memory is short: the next recording tries again
    known.store(new std::string(std::move(text)), std::memory_order_release);
    return known.load()->c_str();
  } catch (...) {
    CountFailure();
    return "";
  }
}

}  // namespace opscope
