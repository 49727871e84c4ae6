// The operators of a MegEngine program with what profile_analyze reads: times on
// devices and threads, and costs. They come from get_profile() of a static graph,
// where each operator appears once with the times of its last run, or from a
// recorded Trace, where each call is one operator.
//
//   Result<MegEngineProfile> profile = ReadMegEngineProfile("prof.json");
//   const auto operators = profile.value().is_graph ? profile.value().operators
//                                                   : FindMegEngineCalls(profile.value().trace).operators;
//
// Thread rule: values; the functions on any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/import.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// Lists of integers (shapes, strides) in one array.
struct IntegerLists {
  // All lists, concatenated.
  std::vector<int64_t> numbers;
  // End of each list in `numbers`.
  std::vector<uint32_t> ends;

  size_t size() const { return ends.size(); }
  // REQUIRES: i < size()
  std::span<const int64_t> operator[](size_t i) const {
    const uint32_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span(numbers).subspan(begin, ends[i] - begin);
  }
  // Appends one list.
  void Add(std::span<const int64_t> list) {
    numbers.insert(numbers.end(), list.begin(), list.end());
    ends.push_back(static_cast<uint32_t>(numbers.size()));
  }
};

// Time of one operator on one device or thread, in seconds.
struct MegEngineTime {
  double whole = 0;
  // Until the kernel began; on a thread: until it was launched.
  double wait = 0;
};

// One operator, or one call.
struct MegEngineOperator {
  std::string name;
  // "ConvolutionForward".
  std::string type;
  // MegEngine's number of the operator or call.
  std::string id;
  // "Float32"; "": unknown.
  std::vector<std::string> input_dtypes;
  // One entry per device that it ran on.
  std::vector<MegEngineTime> device;
  // One entry per thread.
  std::vector<MegEngineTime> host;
  // Floating-point operations; nullopt here and below: unknown.
  std::optional<double> computation;
  // Bytes read and written.
  std::optional<double> memory;
  std::optional<IntegerLists> in_shapes;
  // Strides; empty for a contiguous input.
  std::optional<IntegerLists> in_layouts;
  std::optional<IntegerLists> out_shapes;
};

// A file's operators.
struct MegEngineProfile {
  // Of a graph, in the order of the file; else empty.
  std::vector<MegEngineOperator> operators;
  // True: the input is the output of get_profile().
  bool is_graph = false;
  bool is_on_opencl = false;
  // Of a static graph its problems alone, else the imported Trace.
  Trace trace;
};

// Reads the output of get_profile(), compressed or not, or anything that ImportFile
// reads; errors are those of ImportFile. Leaves out malformed operators, times and
// costs, and counts a Problem.
[[nodiscard]] Result<MegEngineProfile> ReadMegEngineProfile(const std::string& path, const ImportOptions& options = {});
[[nodiscard]] Result<MegEngineProfile> ReadMegEngineProfile(int descriptor, const ImportOptions& options = {});
[[nodiscard]] Result<MegEngineProfile> ReadMegEngineProfile(std::span<const std::byte> bytes, std::string_view name,
                                                            const ImportOptions& options = {});

// False: the Trace is of another program, or no operator was called.
[[nodiscard]] bool HasMegEngineOperators(const Trace& trace);

// The calls of a Trace.
struct MegEngineCalls {
  // Calls that a worker ran, in the order of their begins.
  std::vector<MegEngineOperator> operators;
  // Calls that were dispatched and that no worker ran.
  uint64_t untimed = 0;
};

// Each operator call of a MegEngine Trace, as an operator:
//
//   name    the scopes around it and its type, as MegEngine names its outputs: "conv1.Convolution"
//   id      MegEngine's number of the call
//   device  from the begin of its first kernel to the end of its last one there, without waiting; `wait` is
//           the time since the launch before that, and not part of `whole`
//   host    the range of the worker; `wait` until its inputs were there and it launches
//   memory  bytes of its inputs and outputs
//
// A timeline does not say what an operator computes; only recordings have strides.
// O(spans), and O(n log n) in calls that share an id.
[[nodiscard]] MegEngineCalls FindMegEngineCalls(const Trace& trace);

}  // namespace opscope
