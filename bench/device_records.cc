// Stored buffers of CUPTI to a Trace and a file: decoded and written as the CUDA source does it, imported by one
// thread, exported. A launch is two records, the call and its kernel. One JSON object per repetition: nanoseconds of
// CPU time, page faults and bytes per record, beside the time of copying the buffers.
//
//   device_records [LAUNCHES] [REPETITIONS] [FOLDER]
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/recorder.h"
#include "sources/cuda/cupti_activity_records.h"
#include "sources/cuda/cupti_decode.h"
#include "sources/cuda/device_window.h"

namespace {

using opscope::cuda::cupti::ActivityKind;
using opscope::cuda::cupti::Api;
using opscope::cuda::cupti::Kernel9;

constexpr uint32_t kVersion = 18;      // CUPTI 12.1
constexpr uint64_t kLaunchNs = 4'000;  // from one to the next
constexpr size_t kBufferBytes = size_t{8} << 20;

// As a network has them: some tens of kernels, each with a few shapes, again and again.
constexpr uint32_t kNames = 40, kShapes = 5, kStreams = 2;

double CpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

uint64_t Faults() {
  rusage used;
  getrusage(RUSAGE_THREAD, &used);
  return static_cast<uint64_t>(used.ru_minflt);
}

uint64_t UnixNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// The two clocks as they went while the program ran, seconds for what is decoded in tenths of one: a clock that was
// read now would press the records together, and each call into those before it.
struct ProgramClock {
  uint64_t first_ns = 0, first_ticks = 0, now_ns = 0;
  double ticks_per_ns = 1;

  static ProgramClock Start() {
    constexpr uint64_t kMeasuredNs = 20'000'000;
    const uint64_t begin_ns = UnixNs(), begin_ticks = opscope::ReadTicks();
    uint64_t ns = begin_ns;
    while (ns - begin_ns < kMeasuredNs)
      ns = UnixNs();
    const uint64_t ticks = opscope::ReadTicks();
    return {ns, ticks, ns, static_cast<double>(ticks - begin_ticks) / static_cast<double>(ns - begin_ns)};
  }
  opscope::cuda::ClockPair Read() const {
    const auto passed = static_cast<double>(now_ns - first_ns);
    return {now_ns, first_ticks + static_cast<uint64_t>(passed * ticks_per_ns), 1};
  }
};
ProgramClock program_clock;

opscope::cuda::ClockPair ReadClock() {
  return program_clock.Read();
}

uint64_t Random(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

class StoredBuffers {
 public:
  StoredBuffers(uint32_t launches, uint64_t first_ns, uint32_t thread) {
    for (uint32_t i = 0; i < kNames; ++i)
      names_.push_back("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_7functor" + std::to_string(i) + "EvT0_");
    uint64_t random = 42;
    for (uint32_t i = 0; i < launches; ++i) {
      const uint32_t kind = i % kNames, shape = static_cast<uint32_t>(Random(&random)) % kShapes;
      const uint64_t start = first_ns + i * kLaunchNs + Random(&random) % 500;
      Api call{};
      call.kind = ActivityKind::kRuntime;
      call.cbid = 211;
      call.process = 1, call.thread = thread;
      call.start = start, call.end = start + 1'500 + Random(&random) % 1'000;
      call.correlation = i + 1;
      Append(call);
      Kernel9 kernel{};
      kernel.kind = ActivityKind::kConcurrentKernel;
      kernel.start = start + 6'000, kernel.end = kernel.start + 1'000 + Random(&random) % 2'000;
      kernel.context = 1, kernel.stream = 7 + kind % kStreams;
      kernel.grid_x = static_cast<int32_t>(16 << shape), kernel.grid_y = kernel.grid_z = 1;
      kernel.block_x = 128, kernel.block_y = kernel.block_z = 1;
      kernel.registers_per_thread = static_cast<uint16_t>(32 + kind);
      kernel.correlation = i + 1;
      kernel.name = names_[kind].c_str();
      Append(kernel);
    }
  }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const std::vector<std::byte>& buffer : buffers_)
      sum += buffer.size();
    return sum;
  }
  double CopyNs() const {
    std::vector<std::byte> copy(kBufferBytes);
    std::memset(copy.data(), 1, copy.size());
    const double begin = CpuNs();
    for (const std::vector<std::byte>& buffer : buffers_) {
      std::memcpy(copy.data(), buffer.data(), buffer.size());
      asm volatile("" : : "r"(copy.data()) : "memory");
    }
    return CpuNs() - begin;
  }
  // As CUPTI's ActivityGetNextRecord walks.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const std::vector<std::byte>& buffer : buffers_) {
      for (size_t at = 0; at < buffer.size();) {
        const auto* record = reinterpret_cast<const opscope::cuda::cupti::Activity*>(buffer.data() + at);
        visit(record);
        at += record->kind == ActivityKind::kRuntime ? sizeof(Api) : sizeof(Kernel9);
      }
    }
  }

 private:
  template <typename T>
  void Append(const T& record) {
    if (buffers_.empty() || buffers_.back().size() + sizeof(record) > kBufferBytes) {
      buffers_.emplace_back().reserve(kBufferBytes);
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(&record);
    buffers_.back().insert(buffers_.back().end(), bytes, bytes + sizeof(record));
  }

  std::vector<std::string> names_;
  std::vector<std::vector<std::byte>> buffers_;
};

void Decode(const StoredBuffers& buffers, opscope::cuda::DeviceWindow* window) {
  opscope::cuda::DecodedRecord decoded;
  buffers.ForEach([&](const opscope::cuda::cupti::Activity* record) {
    const auto result = opscope::cuda::Decode(record, kVersion, &decoded);
    program_clock.now_ns = decoded.start;
    if (decoded.event == opscope::CudaEvent::kRuntimeCall) decoded.name = "cudaLaunchKernel_v7000";
    window->Take(decoded, result);
  });
}

// False: a step failed, and its message is on standard error.
bool Measure(uint32_t launches, const std::string& folder) {
  opscope::WindowOptions options;
  options.max_bytes = uint64_t{1} << 34;
  opscope::Window* window = opscope_window_open(&options, nullptr);
  if (window == nullptr) return false;
  const opscope::TrackOptions of_track{.name = "CUDA", .end = opscope::TrackEnd::kAtRead};
  opscope::Stream* track = opscope_track_open(window, &of_track);
  program_clock = ProgramClock::Start();
  const opscope::cuda::ClockPair now = ReadClock();
  const StoredBuffers buffers(launches, now.cupti_ns, static_cast<uint32_t>(opscope_thread()->os_thread));
  const double records = 2.0 * launches, copy = buffers.CopyNs();

  opscope::cuda::DeviceWindow device(window, track, 0, &ReadClock);
  device.Begin(now);
  const uint64_t faults = Faults();
  const double begin = CpuNs();
  Decode(buffers, &device);
  const double decoded = CpuNs();
  const uint64_t decode_faults = Faults() - faults;
  program_clock.now_ns = now.cupti_ns + (launches + 10) * kLaunchNs;
  device.End(ReadClock());
  opscope_window_close(window);
  opscope_track_close(track);

  std::vector<opscope::RecordingBlock> blocks;
  opscope_window_read(
      window,
      [](void* context, uint16_t type, const void* data, uint64_t bytes) {
        static_cast<std::vector<opscope::RecordingBlock>*>(context)->push_back(
            {type, {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)}});
      },
      &blocks);
  const uint64_t faults_before = Faults();
  const double closed = CpuNs();
  const opscope::Result<opscope::Trace> trace = opscope::ImportRecording(blocks, {.max_threads = 1});
  const double imported = CpuNs();
  const uint64_t import_faults = Faults() - faults_before;
  opscope_window_free(window);
  if (!trace.ok() || trace.value().launches().span.size() < launches) {
    std::fprintf(stderr, "device_records: not all launches are in the trace\n");
    return false;
  }
  const std::string file = folder + "/device_records.opscope";
  if (!opscope::ExportOpscope(trace.value(), file).ok()) return false;
  const auto file_bytes = static_cast<double>(std::filesystem::file_size(file));
  std::filesystem::remove(file);
  std::printf(
      "{\"records\": %.0f, \"copy_ns\": %.2f, \"decode_ns\": %.2f, \"import_ns\": %.2f, \"buffer_bytes\": %.1f, "
      "\"trace_bytes\": %.1f, \"file_bytes\": %.2f, \"decode_faults\": %.4f, "
      "\"import_faults\": %.4f}\n",
      records, copy / records, (decoded - begin) / records, (imported - closed) / records,
      static_cast<double>(buffers.bytes()) / records, static_cast<double>(trace.value().memory_bytes()) / records,
      file_bytes / records, static_cast<double>(decode_faults) / records, static_cast<double>(import_faults) / records);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::atoi(argv[1]) : 1'000'000, repetitions = argc > 2 ? std::atoi(argv[2]) : 3;
  for (int i = 0; i < repetitions; ++i) {
    if (!Measure(static_cast<uint32_t>(launches), argc > 3 ? argv[3] : "/tmp")) return 1;
  }
  return 0;
}
