// A program of operators with arguments, for the tests of the roofline.
//
//   RooflineProgram program;
//   program.Add("aten::mm", 0, 10, {T("float", {2, 3}), T("float", {3, 4})});
//   const RooflineReport report = MeasureRoofline(program.Build());
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/roofline.h"
#include "trace/builder.h"

namespace opscope {

// One argument as a test writes it.
struct TestArgument {
  ArgumentKind kind = ArgumentKind::kOther;
  std::string dtype, value;
  std::vector<int64_t> sizes, strides;
  std::vector<TestArgument> tensors;
};

inline TestArgument T(const char* dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides = {}) {
  return {ArgumentKind::kTensor, dtype, "", std::move(sizes), std::move(strides), {}};
}
inline TestArgument S(const char* value) {
  return {ArgumentKind::kScalar, "Scalar", value, {}, {}, {}};
}
inline TestArgument L(const char* value) {
  return {ArgumentKind::kScalarList, "ScalarList", value, {}, {}, {}};
}
inline TestArgument None() {
  return {};
}
inline TestArgument Tensors(std::vector<TestArgument> tensors) {
  return {ArgumentKind::kTensorList, "TensorList", "", {}, {}, std::move(tensors)};
}

class RooflineProgram {
 public:
  RooflineProgram() : process_(builder_.AddProcess({.pid = 1})) {
    thread_ = builder_.AddTrack({.process = process_, .tid = 1});
  }

  TraceBuilder& builder() { return builder_; }

  AddedSpan Add(const char* name, int64_t begin, int64_t end, const std::vector<TestArgument>& arguments = {},
                uint32_t correlation = 0, const char* category = "cpu_op", std::string_view attributes = {}) {
    std::vector<std::vector<ArgumentRow>> lists(arguments.size());
    std::vector<ArgumentRow> rows;
    for (size_t i = 0; i < arguments.size(); ++i) {
      for (const TestArgument& tensor : arguments[i].tensors)
        lists[i].push_back(RowOf(tensor));
      rows.push_back(RowOf(arguments[i]));
      rows.back().tensors = lists[i];
    }
    return builder_.AddSpan({.start = {begin},
                             .duration = {end - begin},
                             .name = builder_.Intern(name),
                             .category = builder_.Intern(category),
                             .track = thread_,
                             .correlation = correlation,
                             .args = builder_.AddArguments(rows),
                             .extra = builder_.Intern(attributes)});
  }
  void Kernel(const char* name, int64_t begin, int64_t end, uint32_t correlation) {
    if (stream_ == TrackId::kNone)
      stream_ = builder_.AddTrack({.process = process_, .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0});
    builder_.AddSpan({.start = {begin},
                      .duration = {end - begin},
                      .name = builder_.Intern(name),
                      .category = builder_.Intern("kernel"),
                      .track = stream_,
                      .correlation = correlation});
  }
  Trace Build() { return builder_.Build(); }

 private:
  ArgumentRow RowOf(const TestArgument& argument) {
    return {.kind = argument.kind,
            .dtype = builder_.Intern(argument.dtype),
            .value = builder_.Intern(argument.value),
            .has_strides = !argument.strides.empty(),
            .sizes = argument.sizes,
            .strides = argument.strides};
  }

  TraceBuilder builder_;
  ProcessId process_;
  TrackId thread_ = TrackId::kNone, stream_ = TrackId::kNone;
};

// What a call computes and moves.
struct CallWork {
  std::optional<int64_t> flops, bytes;
  bool operator==(const CallWork&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const CallWork& work) {
  return out << work.flops.value_or(-1) << " FLOPs, " << work.bytes.value_or(-1) << " bytes";
}

inline constexpr CallWork kUnknownWork = {};

// Of the one call of a program.
inline CallWork WorkOfCall(const char* name, const std::vector<TestArgument>& arguments,
                           std::string_view attributes = {}) {
  RooflineProgram program;
  program.Add(name, 0, 10, arguments, 0, "cpu_op", attributes);
  const RooflineReport report = MeasureRoofline(program.Build());
  EXPECT_EQ(report.rows.size(), 1u);
  return {report.rows.at(0).flops, report.rows.at(0).bytes};
}

}  // namespace opscope
