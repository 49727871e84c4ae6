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

// Of one operator on one device, or on one thread that dispatches: seconds of a clock of its own.
struct MegEngineInterval {
  double start = 0;
  double kern = 0;  // the kernel begins, after waiting
  double end = 0;
};

struct MegEngineOperator {
  std::string name;
  std::string type;  // "ConvolutionForward"
  std::string id;
  std::vector<std::string> input_dtypes;  // "Float32"; "": not known
  std::vector<MegEngineInterval> device;  // one per device that it ran on
  std::vector<MegEngineInterval> host;    // one per thread
  // nullopt: not known.
  std::optional<double> computation;  // operations with floating-point numbers
  std::optional<double> memory;       // bytes read and written
  std::optional<IntegerLists> in_shapes;
  std::optional<IntegerLists> in_layouts;  // strides; empty for an input that is contiguous
  std::optional<IntegerLists> out_shapes;
};

struct MegEngineProfile {
  std::vector<MegEngineOperator> operators;  // in the order of the file, or of their calls
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

}  // namespace opscope
