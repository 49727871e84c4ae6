// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/reproduce.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "report/reproduce_program.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// A trace of one operator; its argument lists live as long as this object.
class OneOperator {
 public:
  ArgumentRow Tensor(const char* dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    const std::vector<int64_t>& kept_sizes = lists_.emplace_back(std::move(sizes));
    const std::vector<int64_t>& kept_strides = lists_.emplace_back(std::move(strides));
    return {.kind = ArgumentKind::kTensor,
            .dtype = builder_.Intern(dtype),
            .has_strides = true,
            .sizes = kept_sizes,
            .strides = kept_strides};
  }
  ArgumentRow Value(const std::string& value, ArgumentKind kind = ArgumentKind::kScalar) {
    return {.kind = kind, .dtype = builder_.Intern("Scalar"), .value = builder_.Intern(value)};
  }
  Result<std::string> Script(const std::string& name, const std::vector<ArgumentRow>& arguments,
                             const std::string& file = "run.opscope", const std::string& overload = "") {
    const TrackId thread = builder_.AddTrack({.process = builder_.AddProcess({.pid = 1}), .tid = 1});
    builder_.AddSpan({.start = {0},
                      .duration = {1500},
                      .name = builder_.Intern(name),
                      .overload = overload.empty() ? StringId::kNone : builder_.Intern(overload),
                      .category = builder_.Intern("cpu_op"),
                      .track = thread,
                      .args = builder_.AddArguments(arguments)});
    const Trace trace = builder_.Build();
    const Result<RecordedCall> call = ChooseCall(trace);
    if (!call.ok()) return call.error();
    return ReproduceScript(trace, call.value(), file);
  }

 private:
  TraceBuilder builder_;
  std::deque<std::vector<int64_t>> lists_;
};

// What differs from call to call.
std::string Facts(const Result<std::string>& script) {
  return script.ok() ? script.value().substr(0, script.value().size() - kReproduceProgram.size())
                     : "error: " + script.error().message;
}

TEST(ReproduceScript, HasTheFactsOfTheCallAsLiterals) {
  OneOperator one;
  const std::vector<ArgumentRow> list = {one.Tensor("float", {2, 3}, {0, 1}), one.Tensor("c10::Half", {}, {})};
  const std::string script = Facts(one.Script("aten::odd", {one.Tensor("float", {4, 5}, {1, 4}),
                                                            {.kind = ArgumentKind::kUndefined},
                                                            {.kind = ArgumentKind::kTensorList, .tensors = list},
                                                            one.Value("[1, 2]", ArgumentKind::kScalarList),
                                                            one.Value("1.0000000000000001e-05"),
                                                            one.Tensor("long int", {3}, {1}),
                                                            {.kind = ArgumentKind::kOther}}));
  EXPECT_EQ(script, R"(#!/usr/bin/env python3
# Written by `opscope reproduce`: runs one recorded operator alone and times it. Needs nothing but torch.
#
# file: run.opscope
# operator: aten::odd
# recorded: 1 call, min 1.500 us, median 1.500 us, max 1.500 us
# device: unknown
# shapes: float[4, 5], float[2, 3], c10::Half[], long int[3]
# values: random; a recording has none
# indices: 0, which is within the bounds of any tensor
# not recorded: argument 6: None or an object

import argparse
import functools
import sys

import torch
from torch.utils import benchmark

LIBRARY, NAME = "aten", "odd"
OVERLOAD = ""  # not recorded: the one that fits the arguments
RECORDED_DEVICE = "cpu"  # not recorded
RECORDED_TIME = "1 call, min 1.500 us, median 1.500 us, max 1.500 us"
NOT_RECORDED = object()


def make_arguments(tensor):
    return [
        tensor((4, 5), (1, 4), torch.float32, "normal"),
        None,
        [
            tensor((2, 3), (0, 1), torch.float32, "normal"),
            tensor((), (), torch.float16, "normal"),
        ],
        [1, 2],
        1e-05,
        tensor((3,), (1,), torch.int64, "zeros"),
        NOT_RECORDED,
    ]
)");
}

TEST(ReproduceScript, KeepsHostileTextsOutOfTheCode) {
  const std::string hostile = "1]\n__import__('os').system('id')\n# -*- coding: utf-7 -*-\"\"\"";
  OneOperator one;
  const std::string script = Facts(one.Script(
      "aten::odd", {one.Tensor("float", {1}, {1}), one.Value(hostile), one.Value(hostile, ArgumentKind::kOther)},
      hostile));
  EXPECT_NE(script.find("\n# file: 1]\\x0a__import__('os')"), std::string::npos) << script;
  EXPECT_NE(script.find("\n# not recorded: argument 1: the value 1]\\x0a__import__"), std::string::npos) << script;
  EXPECT_EQ(script.find("\n__import__"), std::string::npos);
  EXPECT_NE(script.find("        NOT_RECORDED,\n        NOT_RECORDED,\n    ]"), std::string::npos) << script;
  const std::string first_lines = script.substr(0, script.find('\n', script.find('\n') + 1));
  EXPECT_EQ(first_lines.find("coding"), std::string::npos);
}

TEST(ReproduceScript, RefusesAnOverloadThatIsNoName) {
  OneOperator one;
  EXPECT_EQ(Facts(one.Script("aten::odd", {one.Tensor("float", {1}, {1})}, "f", "a\"; import os; \"")),
            "error: the overload 'a\"; import os; \"' is not a name in torch");
  OneOperator other;
  EXPECT_NE(Facts(other.Script("aten::sum", {other.Tensor("float", {1}, {1})}, "f", "dim_IntList"))
                .find("OVERLOAD = \"dim_IntList\"\n"),
            std::string::npos);
}

TEST(ReproduceScript, SaysWhyACallCannotBeMadeAgain) {
  OneOperator bare;
  EXPECT_EQ(Facts(bare.Script("aten::mm", {})), "error: no input shapes were recorded; that takes record_shapes=True");
  OneOperator sparse;
  ArgumentRow row = sparse.Tensor("float", {2, 2}, {});
  row.has_strides = false;
  row.layout = TensorLayout::kSparse;
  EXPECT_EQ(Facts(sparse.Script("aten::mm", {row})),
            "error: aten::mm: argument 0 cannot be made again: its layout has no strides (sparse, nested or MKL-DNN)");
  OneOperator typeless;
  EXPECT_EQ(Facts(typeless.Script("aten::mm", {typeless.Tensor("", {2}, {1})})),
            "error: aten::mm: argument 0 cannot be made again: its type was not recorded");
  OneOperator quantized;
  EXPECT_EQ(Facts(quantized.Script("aten::mm", {quantized.Tensor("c10::qint8", {2}, {1})})),
            "error: aten::mm: argument 0 cannot be made again: tensors of the type c10::qint8 cannot be filled");
  OneOperator negative;
  EXPECT_EQ(Facts(negative.Script("aten::mm", {negative.Tensor("float", {-2}, {1})})),
            "error: aten::mm: argument 0 cannot be made again: a size or a stride is negative");
}

TEST(ReproduceScript, TakesContiguousStridesWhereNoneWereRecorded) {
  OneOperator one;
  ArgumentRow row = one.Tensor("float", {2, 3}, {});
  row.has_strides = false;
  const std::string script = Facts(one.Script("aten::relu", {row}));
  EXPECT_NE(script.find("tensor((2, 3), (3, 1), torch.float32"), std::string::npos) << script;
  EXPECT_NE(script.find("# not recorded: argument 0: strides; those of a contiguous tensor\n"), std::string::npos);
}

TEST(ReproduceScript, GivesIntegersThatAreNoIndicesValuesAboveZero) {
  OneOperator one;
  const std::string script =
      Facts(one.Script("aten::floor_divide", {one.Tensor("long int", {2}, {1}), one.Tensor("long int", {2}, {1})}));
  EXPECT_EQ(script.find("zeros"), std::string::npos) << script;
  EXPECT_NE(script.find("torch.int64, \"integers\""), std::string::npos) << script;
}

}  // namespace
}  // namespace opscope
