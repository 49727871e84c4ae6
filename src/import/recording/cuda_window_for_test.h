// A window of the CUDA source beside operators of torch, written by hand, and its Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "import/recording/cuda.h"
#include "import/recording/recorded_bytes_for_test.h"
#include "opscope/cuda_event.h"
#include "opscope/import.h"

namespace opscope {

inline constexpr uint64_t kCupti = 1700000000000000000;  // CUPTI's clock when the recorder's has 1,000 ticks
inline constexpr uint32_t kLaunchingThread = 4711;

// A window with a thread of torch's operators and a track of the CUDA source. Times are ticks of the recorder, which
// are nanoseconds here.
class CudaWindow {
 public:
  explicit CudaWindow(uint32_t bytes = kChunkBytes)  // of the source's chunk
      : thread_({.os_thread = kLaunchingThread}), device_({.size = bytes, .os_thread = 0, .thread_index = 2}) {
    Add(CudaEvent::kClock, 1000, 1000, 0, CudaClockDetails{});
    Add(CudaEvent::kClock, 2000, 2000, 0, CudaClockDetails{.bound_ticks = 7});
  }

  void Operator(std::string_view name, uint64_t start, uint64_t end, uint16_t depth, bool is_range = false) {
    Record record;
    record.kind = RecordKind::kScope;
    record.source = RecordSource::kTorch;
    record.scope = is_range ? 7 : 0;
    record.start = start, record.value = end - start;
    record.depth = depth;
    record.name = thread_.Name(name);
    thread_.Add(record);
  }
  template <typename Details>
  void Add(CudaEvent event, uint64_t start, uint64_t end_or_value, uint32_t correlation, const Details& details,
           std::string_view name = {}) {
    std::string payload(sizeof(PayloadHeader) + ((sizeof(details) + 7) & ~size_t{7}), '\0');
    const PayloadHeader header{static_cast<uint32_t>(payload.size()), 0, 0};
    std::memcpy(payload.data(), &header, sizeof(header));
    std::memcpy(payload.data() + sizeof(header), &details, sizeof(details));
    Record record;
    record.kind = RecordKind::kNative;
    record.source = RecordSource::kCuda;
    record.scope = static_cast<uint8_t>(event);
    record.start = kCupti + start - 1000;
    record.value = event == CudaEvent::kClock ? end_or_value : end_or_value - start;
    record.depth = static_cast<uint16_t>(correlation);
    record.reserved = static_cast<uint16_t>(correlation >> 16);
    if (!name.empty()) record.name = device_.Name(name);
    record.payload = last_side_ = device_.Side(payload);
    device_.Add(record);
  }
  // A record of another event with the details of the one before.
  void WithLastDetails(CudaEvent event, uint64_t start, uint64_t duration, uint32_t correlation) {
    Record record;
    record.kind = RecordKind::kNative;
    record.source = RecordSource::kCuda;
    record.scope = static_cast<uint8_t>(event);
    record.start = kCupti + start - 1000;
    record.value = duration;
    record.depth = static_cast<uint16_t>(correlation);
    record.payload = last_side_;
    device_.Add(record);
  }
  // On the track of the source, as it is.
  void AddRaw(const Record& record) { device_.Add(record); }
  void Call(std::string_view name, uint64_t start, uint64_t end, uint32_t correlation,
            uint32_t thread = kLaunchingThread, CudaEvent event = CudaEvent::kRuntimeCall) {
    Add(event, start, end, correlation, CudaCallDetails{.process = 77, .thread = thread, .callback = 211}, name);
  }
  void Kernel(std::string_view name, uint64_t start, uint64_t end, uint32_t correlation, uint32_t stream = 7) {
    Add(CudaEvent::kKernel, start, end, correlation,
        CudaKernelDetails{.context = 1,
                          .stream = stream,
                          .grid = {8, 16, 5},
                          .block = {128, 1, 1},
                          .static_shared = 12544,
                          .registers = 122},
        name);
  }
  void Device() {
    Add(CudaEvent::kDevice, 1000, 1000, 0,
        CudaDeviceDetails{.memory_bytes = 42297524224,
                          .compute_major = 8,
                          .threads_per_block = 1024,
                          .threads_per_sm = 2048,
                          .warp_size = 32,
                          .sms = 108,
                          .registers_per_block = 65536,
                          .registers_per_sm = 65536,
                          .shared_per_block = 49152,
                          .shared_per_sm = 167936},
        "NVIDIA A100");
  }
  Trace Import(std::string_view info = "") {
    RecordingBytes bytes;
    bytes.Add(block_types::kWindowInfo, WindowInfoText(info));
    bytes.Add(block_types::kRawChunk, thread_.bytes());
    bytes.Add(block_types::kRawChunk, device_.bytes());
    Result<Trace> trace = ImportRecording(bytes.blocks);
    EXPECT_TRUE(trace.ok());
    return std::move(trace).value();
  }

 private:
  ChunkBytes thread_, device_;
  uint32_t last_side_ = 0;
};

struct Rows {
  explicit Rows(const Trace& from) : trace(from) {
    for (size_t i = 0; i < trace.spans().size(); ++i)
      row[std::string(trace.text(trace.spans().category[i])) + " " + std::string(trace.text(trace.spans().name[i]))] =
          i;
  }
  size_t operator[](const std::string& name) const {
    const auto found = row.find(name);
    EXPECT_NE(found, row.end()) << name;
    return found == row.end() ? 0 : found->second;
  }
  std::string extra(const std::string& name) const {
    return std::string(trace.text(trace.spans().extra[(*this)[name]]));
  }

  const Trace& trace;
  std::map<std::string, size_t> row;
};

inline uint64_t CountOf(const Trace& trace, std::string_view kind) {
  for (size_t i = 0; i < trace.problems().size(); ++i) {
    if (trace.text(trace.problems().kind[i]) == kind) return trace.problems().count[i];
  }
  return 0;
}

}  // namespace opscope
