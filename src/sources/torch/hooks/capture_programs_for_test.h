// For the tests of capture_mode.h: programs that run torch's operators, and the library that torch's GOT entries call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "sources/got/patched_entries.h"
#include "sources/torch/recorded_window_for_test.h"

namespace opscope {

inline constexpr const char* kCaptureModeVariable = "OPSCOPE_TORCH_ROUTE";
inline const bool kAreHooksForbidden = std::getenv(kCaptureModeVariable) != nullptr;
#if defined(__x86_64__)
inline constexpr const char* kWithoutHooks = nullptr;
#else
inline constexpr const char* kWithoutHooks = "hooks were tried on x86-64 alone";
#endif

// The library that torch calls when it destroys a range.
inline std::string LibraryOfDestroyEntry() {
  const std::vector<GotEntry> entries = FindGotEntries("libtorch_cpu.so", "_ZN2at14RecordFunctionD1Ev");
  Dl_info owner;
  if (entries.empty() || dladdr(*entries[0].address, &owner) == 0) return "";
  const std::string file = owner.dli_fname;
  return file.substr(file.rfind('/') + 1);
}
inline bool AreHooksInstalled() {
  return LibraryOfDestroyEntry().starts_with("libopscope_torch");
}

class TorchCaptureMode : public testing::Test {
 protected:
  void SetUp() override {
    if (kAreHooksForbidden) GTEST_SKIP() << kCaptureModeVariable << " is set";
    if (kWithoutHooks != nullptr) GTEST_SKIP() << kWithoutHooks;
  }
  void TearDown() override { EXPECT_FALSE(AreHooksInstalled()); }
};

inline void Adds(int times) {
  const at::Tensor x = at::ones({2});
  for (int i = 0; i < times; ++i)
    (void)at::add(x, x);
}

inline void TrainOneStep() {
  const at::Tensor weight = at::full({4, 4}, 0.5).requires_grad_(true);
  void* step = TheTorchSource().enter("ProfilerStep#1", 14, nullptr, 0);
  const at::Tensor loss = at::relu(at::mm(weight, weight.t())).sum();
  loss.backward();
  {
    const at::NoGradGuard none;
    weight.sub_(weight.grad());
  }
  if (step != nullptr) TheTorchSource().exit(step);  // null: no callback observes it
  EXPECT_THROW((void)at::mm(at::ones({2, 3}), at::ones({2, 3})), c10::Error);
}

}  // namespace opscope
