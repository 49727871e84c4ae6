// Arguments that are those of the call before are found without being encoded. Each pair of a set of calls is made one
// after the other, and both must have the arguments that each has alone.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sources/torch/recorded_window.h"

namespace opscope {
namespace {

using Inputs = std::vector<c10::IValue>;

const c10::FunctionSchema& SchemaOf(size_t arguments) {
  static std::map<size_t, std::unique_ptr<c10::FunctionSchema>> schemas;
  std::unique_ptr<c10::FunctionSchema>& schema = schemas[arguments];
  if (schema == nullptr) {
    std::vector<c10::Argument> named;
    for (size_t i = 0; i < arguments; ++i)
      named.emplace_back("x" + std::to_string(i), c10::AnyType::get());
    schema = std::make_unique<c10::FunctionSchema>("test::known", "", std::move(named), std::vector<c10::Argument>());
  }
  return *schema;
}

std::vector<Inputs> Calls() {
  constexpr int64_t kLarge = int64_t{1} << 32;
  const at::Tensor matrix = at::ones({2, 3}), square = at::ones({3, 3});
  const at::Tensor huge = at::empty({1}).expand({kLarge + 2, 3});  // its sizes are {2, 3} in 32 bits
  const at::Tensor sparse = at::ones({2, 3}).to_sparse();
  c10::List<at::Tensor> tensors({matrix, square});
  std::vector<Inputs> calls = {
      {},
      {matrix},
      {square},
      {square.t()},
      {square.to(at::kDouble)},
      {square.conj()},
      {matrix.t()},
      {at::ones({3, 2})},
      {at::ones({6})},
      {at::ones({})},
      {at::ones({2, 0, 3})},
      {at::ones({0, 3})},
      {at::ones({1, 3})},
      {at::ones({3, 1}).t()},
      {huge},
      {sparse},
      {at::Tensor()},
      {c10::IValue()},
      {int64_t{1}},
      {int64_t{0}},
      {-1},
      {kLarge + 1},
      {1.0},
      {0.0},
      {-0.0},
      {std::numeric_limits<double>::quiet_NaN()},
      {true},
      {false},
      {c10::complex<double>(1, 2)},
      {"text"},
      {tensors},
      {c10::List<at::Tensor>()},
      {c10::List<int64_t>({1, 2})},
      {c10::List<int64_t>({1, -2})},
      {c10::List<int64_t>({1, kLarge + 2})},
      {c10::List<int64_t>({1, 2, 3})},
      {c10::List<int64_t>()},
      {c10::List<double>({1, 2})},
      {c10::List<bool>({true, false})},
  };
  const size_t alone = calls.size();
  for (size_t i = 1; i < alone; ++i) {
    calls.push_back({matrix, calls[i][0], 1});
    calls.push_back({calls[i][0], calls[alone - i][0]});
  }
  return calls;
}

// For each call its arguments, in the order in which they were recorded.
std::vector<RecordedRange> Recorded(const std::vector<const Inputs*>& calls, int64_t sequence) {
  const RecordedWindow window(uint64_t{1} << 30);
  void* session = window.Start(torch_source_flags::kInputs);
  for (const Inputs* inputs : calls) {
    at::RecordFunction range(at::RecordScope::FUNCTION);
    range.before(std::cref(SchemaOf(inputs->size())), c10::ArrayRef<const c10::IValue>(inputs->data(), inputs->size()),
                 sequence);
  }
  TheSource().stop(session);
  window.Close();
  return window.Named("test::known");
}

class TorchArgumentsInTurn : public testing::TestWithParam<int64_t> {};

TEST_P(TorchArgumentsInTurn, AreThoseOfTheCallItselfWhateverCameBefore) {
  const std::vector<Inputs> calls = Calls();
  std::vector<std::vector<uint32_t>> alone;
  for (const Inputs& call : calls) {
    const std::vector<RecordedRange> ranges = Recorded({&call}, GetParam());
    ASSERT_EQ(ranges.size(), 1u);
    alone.push_back(ranges[0].words);
  }
  for (size_t first = 0; first < calls.size(); ++first) {
    std::vector<const Inputs*> pairs;
    for (const Inputs& second : calls)
      pairs.insert(pairs.end(), {&calls[first], &second, &second});
    const std::vector<RecordedRange> ranges = Recorded(pairs, GetParam());
    ASSERT_EQ(ranges.size(), pairs.size());
    for (size_t i = 0; i < ranges.size(); ++i) {
      const size_t call = i % 3 == 0 ? first : i / 3;
      ASSERT_EQ(ranges[i].arguments, calls[call].size()) << first << " before " << i / 3;
      ASSERT_EQ(ranges[i].words, alone[call]) << first << " before " << i / 3;
      ASSERT_EQ(ranges[i].sequence, GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WithoutAndWithNumbers, TorchArgumentsInTurn, testing::Values(-1, 7));

TEST(TorchKnownArguments, AreWrittenOnce) {
  const at::Tensor x = at::ones({2, 3});
  for (const Inputs& call : {Inputs{x, x, 1}, Inputs{x.t(), c10::List<int64_t>({1, 2}), c10::IValue(), true, 0.5}}) {
    const std::vector<RecordedRange> ranges = Recorded({&call, &call, &call}, -1);
    ASSERT_EQ(ranges.size(), 3u);
    EXPECT_EQ(ranges[1].record.side, ranges[0].record.side);
    EXPECT_EQ(ranges[2].record.side, ranges[0].record.side);
  }
}

TEST(TorchKnownArguments, AreWrittenOnceWhenLayersTakeTurns) {
  const at::Tensor x = at::ones({2, 3});
  const Inputs first{x, x, 1}, second{x.t(), c10::List<int64_t>({1, 2}), true}, third{at::ones({6, 1}), x, 1};
  std::vector<const Inputs*> calls;
  for (int turn = 0; turn < 4; ++turn)
    calls.insert(calls.end(), {&first, &second, &third});
  const std::vector<RecordedRange> ranges = Recorded(calls, -1);
  ASSERT_EQ(ranges.size(), calls.size());
  for (size_t i = 3; i < ranges.size(); ++i)
    EXPECT_EQ(ranges[i].record.side, ranges[i - 3].record.side) << i;
}

}  // namespace
}  // namespace opscope
