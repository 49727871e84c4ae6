// The ranges of autograd's nodes (node_ranges.h), beside those that callbacks record.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>

#include <atomic>
#include <ios>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sources/torch/hooks/capture_programs_for_test.h"

namespace opscope {
namespace {

using TorchNodeRanges = TorchCaptureMode;
constexpr const char* kOuter = "autograd::engine::evaluate_function: ";

at::Tensor Leaf() {
  return at::full({3, 3}, 0.5).requires_grad_(true);
}

// Name, depth, sequence and arguments of what one window has recorded.
template <typename Work>
std::vector<std::string> LinesOf(const Work& work, bool by_callbacks) {
  if (by_callbacks) setenv(kCaptureModeVariable, "callbacks", 1);
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kInputs);
  unsetenv(kCaptureModeVariable);
  work(session);
  TheSource().stop(session);
  window.Close();
  EXPECT_EQ(window.Counts().dropped, 0u);
  std::vector<std::string> lines;
  for (const RecordedRange& range : window.Ranges()) {
    lines.push_back(range.name + " " + std::to_string(range.record.depth) + " " +
                    std::to_string(static_cast<int>(range.record.kind)) + " " +
                    std::to_string(static_cast<int>(range.record.scope)) + (range.sequence >= 0 ? " s" : " -") +
                    (range.forward_thread != 0 ? " f" : " -"));
    for (const uint32_t word : range.words)
      lines.back() += " " + std::to_string(word);
  }
  return lines;
}
template <typename Work>
void ExpectAsByCallbacks(const Work& work) {
  TrainOneStep();
  const std::vector<std::string> ours = LinesOf(work, false);
  EXPECT_EQ(ours, LinesOf(work, true));
  EXPECT_GT(ours.size(), 5u);
}

std::atomic<int> streams{0};
void (*begin_stream)(std::ios_base*) = nullptr;

// So the engine's place has been learnt: none of its names was put together.
TEST_F(TorchNodeRanges, NeedNoStringStream) {
  const std::vector<GotEntry> entries = FindGotEntries("libtorch_cpu.so", "_ZNSt8ios_baseC2Ev");
  ASSERT_FALSE(entries.empty());
  begin_stream = reinterpret_cast<void (*)(std::ios_base*)>(dlsym(RTLD_DEFAULT, "_ZNSt8ios_baseC2Ev"));
  ASSERT_NE(begin_stream, nullptr);
  void (*count)(std::ios_base*) = [](std::ios_base* self) {
    ++streams;
    begin_stream(self);
  };
  PatchedEntries counted;
  const auto streams_of = [&](bool by_callbacks) {
    LinesOf(
        [&](void*) {
          const at::Tensor loss = at::relu(at::mm(Leaf(), Leaf())).sum();
          const std::lock_guard lock(GotLock());
          ASSERT_TRUE(counted.Patch(entries[0], reinterpret_cast<void*>(count)));
          streams = 0;
          loss.backward();
          counted.Restore();
        },
        by_callbacks);
    return streams.load();
  };
  streams_of(false);  // learns
  EXPECT_EQ(streams_of(false), 0);
  EXPECT_EQ(streams_of(true), 5);  // of sum, relu, mm and two leaves
}

struct TwiceFunction : torch::autograd::Function<TwiceFunction> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) { return x * 2; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& grads) {
    const at::Tensor inner = Leaf();
    const at::AutoGradMode on(true);
    (inner * inner).sum().backward();  // the engine within the engine
    return {grads[0] * 2};
  }
};

TEST_F(TorchNodeRanges, AreThoseOfCallbacksWhereTheEngineRunsWithinItself) {
  ExpectAsByCallbacks([](void*) { TwiceFunction::apply(Leaf()).sum().backward(); });
}

TEST_F(TorchNodeRanges, EndWhereANodeThrows) {
  ExpectAsByCallbacks([](void*) {
    const at::Tensor x = Leaf(), y = at::relu(x);
    y.register_hook([](const at::Tensor&) -> at::Tensor { throw std::runtime_error("from a hook"); });
    EXPECT_THROW((y * 2).sum().backward(), std::runtime_error);
    (x * 2).sum().backward();
  });
}

TEST_F(TorchNodeRanges, AreThoseOfCallbacksWhereTheSourceStopsWithinThem) {
  ExpectAsByCallbacks([](void* session) {
    const at::Tensor y = at::relu(Leaf());
    y.register_hook([session](const at::Tensor&) { TheSource().stop(session); });
    (y * 2).sum().backward();
  });
  EXPECT_FALSE(AreHooksInstalled());
}

TEST_F(TorchNodeRanges, AreWholeOnManyThreads) {
  constexpr size_t kThreads = 4, kSteps = 50;
  TrainOneStep();
  std::vector<std::thread> threads;
  std::atomic<size_t> found{0};
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&found] {
      const RecordedWindow window;
      void* session = window.Start();
      for (size_t step = 0; step < kSteps; ++step)
        at::relu(at::mm(Leaf(), Leaf())).sum().backward();
      TheSource().stop(session);
      window.Close();
      for (const char* node : {"SumBackward0", "ReluBackward0", "MmBackward0"})
        found += window.Named(kOuter + std::string(node)).size() + window.Named(node).size();
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(found, kThreads * kSteps * 3 * 2);
}

}  // namespace
}  // namespace opscope
