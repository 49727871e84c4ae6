// The operators of a MegEngine program with what profile_analyze asks of them: times on devices and on threads, and
// costs. They come from get_profile() of a static graph, where each stands once with the times of its last run, or from
// a recorded Trace, where each call is one.
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

// Lists of whole numbers, one behind the other: shapes, strides.
struct IntegerLists {
  std::vector<int64_t> numbers;
  std::vector<uint32_t> ends;  // of each list, in `numbers`

  size_t size() const { return ends.size(); }
  std::span<const int64_t> operator[](size_t i) const {
    const uint32_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span(numbers).subspan(begin, ends[i] - begin);
  }
  void Add(std::span<const int64_t> list) {
    numbers.insert(numbers.end(), list.begin(), list.end());
    ends.push_back(static_cast<uint32_t>(numbers.size()));
  }
};

// Of one operator on one device, or on one thread: seconds.
struct MegEngineTime {
  double whole = 0;
  double wait = 0;  // until the kernel began (on a thread: until it was launched)
};

struct MegEngineOperator {
  std::string name;
  std::string type;  // "ConvolutionForward"
  std::string id;
  std::vector<std::string> input_dtypes;  // "Float32"; "": not known
  std::vector<MegEngineTime> device;      // one per device that it ran on
  std::vector<MegEngineTime> host;        // one per thread
  // nullopt: not known.
  std::optional<double> computation;  // operations with floating-point numbers
  std::optional<double> memory;       // bytes read and written
  std::optional<IntegerLists> in_shapes;
  std::optional<IntegerLists> in_layouts;  // strides; empty for an input that is contiguous
  std::optional<IntegerLists> out_shapes;
};

struct MegEngineProfile {
  std::vector<MegEngineOperator> operators;  // of a graph, in the order of the file
  bool is_graph = false;                     // the output of get_profile()
  bool is_on_opencl = false;
  // Of a static graph: its problems alone. Of anything else: what was read.
  Trace trace;
};

// Reads the output of get_profile(), in any compression, and anything else that ImportFile reads; errors are those of
// ImportFile. Operators, times and costs that are no such thing are left out, and a problem is counted.
[[nodiscard]] Result<MegEngineProfile> ReadMegEngineProfile(const std::string& path, const ImportOptions& options = {});
[[nodiscard]] Result<MegEngineProfile> ReadMegEngineProfile(int descriptor, const ImportOptions& options = {});
[[nodiscard]] Result<MegEngineProfile> ReadMegEngineProfile(std::span<const std::byte> bytes, std::string_view name,
                                                            const ImportOptions& options = {});

// False: a Trace of something else, or of a window in which no operator was called.
[[nodiscard]] bool HasMegEngineOperators(const Trace& trace);

struct MegEngineCalls {
  std::vector<MegEngineOperator> operators;  // that the worker ran, in the order of their begins
  uint64_t untimed = 0;                      // calls that were dispatched and that no worker ran
};

// Each call of an operator that a Trace of MegEngine has, as an operator:
//
//   name    the scopes around it and its type, as MegEngine names its outputs: "conv1.Convolution"
//   id      MegEngine's number of the call
//   device  from the begin of its first kernel to the end of its last one there, within which nothing waits; `wait` is
//           before that, since the launch, and not part of `whole`
//   host    the range of the worker; `wait` until its inputs were there, where it launches
//   memory  bytes of its inputs and outputs
//
// What an operator computes is in no timeline, and strides are in recordings only. O(spans).
[[nodiscard]] MegEngineCalls MegEngineCallsOf(const Trace& trace);

}  // namespace opscope
