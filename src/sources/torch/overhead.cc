// One measured event consists of a copy of torch's callbacks, a RecordFunction, boxed arguments if the callbacks want
// them, `runRecordFunction`, and the destructor. Dispatcher::callWithDispatchKeySlowPath does the same around a kernel.
// The event goes through the hooks if they will record the window. The same event with empty callbacks gives torch's
// share.
//
// The overhead grows with the number of arguments: boxing, reading and storing a tensor takes about 19 ns, and 1 ns per
// dimension beyond the first. So the result has one figure per argument, that of a tensor with two dimensions. Sequence
// numbers make no difference.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/overhead.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/short_runs.h"
#include "opscope/recorder.h"
#include "opscope/torch_source.h"
#include "sources/streams/event_cost.h"
#include "sources/streams/failures.h"
#include "sources/torch/callbacks/callback_pool.h"
#include "sources/torch/hooks/capture_mode.h"
#include "sources/torch/user_range.h"

namespace opscope {
namespace {

constexpr size_t kArguments = 3;

std::unique_ptr<at::ObserverContext> EmptyStart(const at::RecordFunction& /*range*/) {
  return nullptr;
}
void EmptyEnd(const at::RecordFunction& /*range*/, at::ObserverContext* /*context*/) {
}

// A tensor with a shape but without memory, so that no operator runs.
at::Tensor ShapeOnly() {
  auto shape = c10::make_intrusive<c10::TensorImpl>(c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                    caffe2::TypeMeta::Make<float>(), c10::Device(c10::kCPU));
  shape->set_sizes_contiguous({8, 8});
  return at::Tensor(std::move(shape));
}

using torch_layout::Schema;
constexpr RangeFunctions kTorchFunctions = {
    [](at::RecordFunction* self, at::StepCallbacks* from) { ::new (self) at::RecordFunction(std::move(*from)); },
    [](at::RecordFunction& range, Schema schema, c10::DispatchKey, c10::DispatchKeySet) { range.before(schema); },
    [](at::RecordFunction& range, Schema schema, c10::DispatchKey, c10::DispatchKeySet, torch_layout::Inputs inputs) {
      range.before(schema, inputs);
    },
    [](at::RecordFunction* self) { self->at::RecordFunction::~RecordFunction(); }};

// The call to measure, and the functions that construct and destroy its range.
struct Event {
  at::StepCallbacks callbacks;
  c10::OperatorHandle op;
  RangeFunctions by;
  at::Tensor tensor;
  size_t arguments = 0;
};

struct alignas(at::RecordFunction) RangeMemory {
  std::byte bytes[sizeof(at::RecordFunction)];
  at::RecordFunction* range() { return reinterpret_cast<at::RecordFunction*>(bytes); }
};

void Begin(const Event& event, at::RecordFunction* range) {
  constexpr auto kKey = c10::DispatchKey::CPU;
  constexpr c10::DispatchKeySet kKeys(kKey);
  at::StepCallbacks callbacks = event.callbacks;  // the dispatcher gets a copy, too
  event.by.construct(range, &callbacks);
  const Schema name = event.op.schema();
  if (!range->needsInputs()) return event.by.run(*range, name, kKey, kKeys);
  alignas(c10::IValue) std::byte memory[kArguments * sizeof(c10::IValue)];
  auto* boxed = reinterpret_cast<c10::IValue*>(memory);
  for (size_t i = 0; i < event.arguments; ++i)
    ::new (boxed + i) c10::IValue(event.tensor);
  event.by.run_with(*range, name, kKey, kKeys, c10::ArrayRef<const c10::IValue>(boxed, event.arguments));
  for (size_t i = 0; i < event.arguments; ++i)
    boxed[i].~IValue();
}

void RunOp(const Event& event) {
  RangeMemory memory;
  Begin(event, memory.range());
  event.by.destroy(memory.range());
}

void RunUserRange(const Event& event) {
  ExitUserRange(BeginUserRange(event.callbacks, "calibration", nullptr));
}

using RunEvent = void (*)(const Event& event);

// Three figures of one run: whole_ns, the share inside, and whole_ns with empty callbacks.
void RunOnce(const Stream* stream, Event* event, RunEvent run, double* figures) {
  const auto one = [=] { run(*event); };
  figures[0] = NsPerEvent(one);
  figures[1] = InsideShare(stream, one);
  auto& callbacks = event->callbacks.callbacks_[0];
  const auto ours = std::exchange(callbacks, {&EmptyStart, &EmptyEnd});
  figures[2] = NsPerEvent(one);
  callbacks = ours;
}

struct Cost {
  double whole_ns = 0;   // of one event
  double inside_ns = 0;  // the part between the two clock reads of the event's record
  double floor_ns = 0;   // torch's share of whole_ns, measured with empty callbacks
};

Cost CostOf(const double* figures) {
  return {.whole_ns = figures[0], .inside_ns = figures[0] * figures[1], .floor_ns = figures[2]};
}

void AppendEvent(std::string* out, const char* kind, const Cost& cost, double begin_share) {
  if (!out->empty()) out->push_back(',');
  out->append("\"").append(kind).append("\":{");
  AppendNs(out, "inside_ns", cost.inside_ns);
  AppendNs(out, "begin_ns", cost.whole_ns * begin_share);
  AppendNs(out, "end_ns", cost.whole_ns * (1 - begin_share));
  AppendNs(out, "floor_ns", cost.floor_ns);
  out->append("}");
}

void AppendArgument(std::string* out, const Cost& none, const Cost& all) {
  const auto each = [](double with, double without) { return (with - without) / kArguments; };
  out->append(",\"torch_argument\":{");
  AppendNs(out, "inside_ns", each(all.inside_ns, none.inside_ns));
  AppendNs(out, "begin_ns", each(all.whole_ns, none.whole_ns));
  AppendNs(out, "floor_ns", each(all.floor_ns, none.floor_ns));
  out->append("}");
}

std::string MeasureAll(const Stream* stream, bool inputs, const RangeFunctions& by) {
  const uint64_t thread = at::RecordFunction::currentThreadId();
  const auto add = c10::Dispatcher::singleton().findSchema({"aten::add", "Tensor"});
  if (!add) return "";
  Event event{
      .callbacks = at::StepCallbacks(thread, at::RecordScope::FUNCTION), .op = *add, .by = by, .tensor = ShapeOnly()};
  event.callbacks.needs_inputs_ = inputs;
  event.callbacks.callbacks_.push_back({start_functions[kCalibrationInstance], &EndRange});
  enum : size_t { kBeginShare = 0, kOp = 1, kOpWithArguments = 4, kRange = 7, kFigures = 10 };
  const std::array<double, kFigures> medians = MediansOfRuns<kFigures>([&] {
    std::array<double, kFigures> figures{};
    event.callbacks.scope_ = at::RecordScope::FUNCTION;
    figures[kBeginShare] = BeginShare<RangeMemory>([&](RangeMemory* memory) { Begin(event, memory->range()); },
                                                   [&](RangeMemory* memory) { event.by.destroy(memory->range()); });
    RunOnce(stream, &event, &RunOp, &figures[kOp]);
    if (inputs) {
      event.arguments = kArguments;
      RunOnce(stream, &event, &RunOp, &figures[kOpWithArguments]);
      event.arguments = 0;
    }
    event.callbacks.scope_ = at::RecordScope::USER_SCOPE;
    RunOnce(stream, &event, &RunUserRange, &figures[kRange]);
    return figures;
  });
  std::string out;
  const Cost op = CostOf(&medians[kOp]);
  AppendEvent(&out, "torch_op", op, medians[kBeginShare]);
  if (inputs) AppendArgument(&out, op, CostOf(&medians[kOpWithArguments]));
  AppendEvent(&out, "torch_range", CostOf(&medians[kRange]), medians[kBeginShare]);
  return out;
}

// Opens a window and binds the calibration instance, which is never registered with torch, to it.
std::string MeasureInScratchWindow(uint32_t flags, const RangeFunctions& by) {
  const ScratchWindow window = OpenScratchWindow();
  if (window == nullptr) return "";
  const uint32_t slot = opscope_window_slot(window.get());
  const Stream* stream = opscope_stream_attach(slot, at::RecordFunction::currentThreadId());
  if (stream == nullptr || stream->chunk == nullptr) return "";
  BindInstance(kCalibrationInstance, slot, opscope_window_id(window.get()), flags);
  std::string text = MeasureAll(stream, (flags & torch_source_flags::kInputs) != 0, by);
  callback_bindings[kCalibrationInstance].Unbind();
  return text;
}

// Windows of the same kind have the same overhead per range.
uint32_t KindOfWindow(uint32_t flags) {
  const auto has = [flags](uint32_t some) { return (flags & some) != 0 ? 1u : 0u; };
  using namespace torch_source_flags;
  return has(kInputs) | has(kOverloadNames) << 1 | (has(kInputs) & has(kTensors)) << 2 | has(kStacks | kModules) << 3;
}

// Results by capture mode and kind of window. Written once and never freed.
constinit std::atomic<const std::string*> results[2][16] = {};
// The process that measures now; 0: none. The calibration instance serves one measurement at a time.
constinit std::atomic<int> measured_by{0};

}  // namespace

const char* OverheadJson(uint32_t flags) {
  const std::optional<RangeFunctions> hooks = HooksFor(flags);
  std::atomic<const std::string*>& result = results[hooks.has_value() ? 1 : 0][KindOfWindow(flags)];
  constexpr int kMaxRetries = 1000;  // waits of 20 us for the measurement of another thread
  for (int tries = 0; tries < kMaxRetries; ++tries) {
    if (const std::string* known = result.load(std::memory_order_acquire)) return known->c_str();
    int process = measured_by.load(std::memory_order_relaxed);
    // If the parent of a fork was measuring, measured_by has its number, and this process takes over.
    if (process == getpid() || !measured_by.compare_exchange_strong(process, getpid())) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      continue;
    }
    try {
      std::string text = MeasureInScratchWindow(flags, hooks.value_or(kTorchFunctions));
      if (text.empty()) {
        tries = kMaxRetries;  // out of memory: the next recording tries again
      } else {
        result.store(new std::string(std::move(text)), std::memory_order_release);
      }
    } catch (...) {
      CountFailure();
      tries = kMaxRetries;
    }
    measured_by.store(0, std::memory_order_release);
  }
  return "";
}

}  // namespace opscope
