// A small profiler on CUPTI, for the tests of the simulated CUPTI itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fake_cuda.h"
#include "fake_cupti.h"
#include "later_records.h"
#include "sources/cuda/cupti_abi.h"

namespace fake {

namespace cupti = opscope::cuda::cupti;
using cupti::ActivityKind;
using cupti::Result;

// The library's function, null where it lacks it: Find<cupti::GetVersion>("GetVersion").
template <class Function>
Function Find(const char* name) {
  static void* const library = dlopen(OPSCOPE_FAKE_CUPTI_FILE, RTLD_NOW);
  return reinterpret_cast<Function>(dlsym(library, (std::string("cupti") + name).c_str()));
}
#define CUPTI(name) fake::Find<opscope::cuda::cupti::name>(#name)

// One at a time; the callbacks of CUPTI have no argument to say whose they are.
class Tool {
 public:
  struct Done {
    std::uint8_t* data;
    std::size_t valid;
    std::thread::id by;
  };

  // Begins the scenario.
  explicit Tool(const std::string& scenario, std::size_t buffer_size = 1 << 20) : buffer_size_(buffer_size) {
    fake_cupti_scenario(scenario.c_str());
    the_tool = this;
  }
  ~Tool() {
    fake_cupti_scenario("");  // no callback runs after this
    the_tool = nullptr;
  }
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  void Start(std::initializer_list<ActivityKind> kinds) {
    ASSERT_EQ(CUPTI(ActivityRegisterCallbacks)(&Requested, &Completed), Result::kSuccess);
    for (ActivityKind kind : kinds)
      ASSERT_EQ(CUPTI(ActivityEnable)(kind), Result::kSuccess);
    kinds_ = kinds;
  }

  // Waits for the device, disables, flushes.
  void Stop() {
    fake_cuda_device_synchronize(0);
    for (ActivityKind kind : kinds_)
      EXPECT_EQ(CUPTI(ActivityDisable)(kind), Result::kSuccess);
    EXPECT_EQ(CUPTI(ActivityFlushAll)(0), Result::kSuccess);
    EXPECT_EQ(CUPTI(ActivityFlushAll)(cupti::kFlushForced), Result::kSuccess);
  }

  std::vector<Done> done() {
    const std::lock_guard lock(mutex_);
    return done_;
  }

  // All records that were handed back, in the order of their buffers.
  std::vector<const cupti::Activity*> Records() {
    std::vector<const cupti::Activity*> records;
    for (const Done& buffer : done()) {
      cupti::Activity* record = nullptr;
      while (CUPTI(ActivityGetNextRecord)(buffer.data, buffer.valid, &record) == Result::kSuccess) {
        records.push_back(record);
      }
    }
    return records;
  }

  template <class T>
  std::vector<const T*> RecordsOf(ActivityKind kind) {
    std::vector<const T*> found;
    for (const cupti::Activity* record : Records()) {
      if (record->kind == kind) found.push_back(reinterpret_cast<const T*>(record));
    }
    return found;
  }

  bool declines = false;          // requests for buffers
  std::size_t misaligned_by = 0;  // bytes
  void (*in_completed)() = nullptr;

 private:
  static inline Tool* the_tool = nullptr;

  static void Requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
    Tool& tool = *the_tool;
    *max_records = 0;
    if (tool.declines) {
      *buffer = nullptr;
      *size = 0;
      return;
    }
    const std::lock_guard lock(tool.mutex_);
    tool.buffers_.push_back(std::make_unique<std::uint64_t[]>(tool.buffer_size_ / 8 + 1));
    *buffer = reinterpret_cast<std::uint8_t*>(tool.buffers_.back().get()) + tool.misaligned_by;
    *size = tool.buffer_size_;
  }

  static void Completed(cupti::CudaContext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
    Tool& tool = *the_tool;
    if (tool.in_completed != nullptr) tool.in_completed();
    const std::lock_guard lock(tool.mutex_);
    tool.done_.push_back({buffer, valid, std::this_thread::get_id()});
  }

  std::size_t buffer_size_;
  std::vector<ActivityKind> kinds_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::uint64_t[]>> buffers_;
  std::vector<Done> done_;
};

inline bool Broken(const std::string& rule) {
  return std::string(fake_cupti_violation_text()).find(rule + " ") != std::string::npos;
}

}  // namespace fake
