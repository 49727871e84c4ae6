// The usual kinds of arguments are encoded where a range opens, all others, and those of windows that want names of
// overloads, by the encoder. A set of calls of both must have the same words and tensors either way.
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

#include "sources/torch/recorded_window_for_test.h"

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
    schema = std::make_unique<c10::FunctionSchema>("test::usual", "", std::move(named), std::vector<c10::Argument>());
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
      {at::ones({1, 1, 1, 2, 3})},
      {at::ones({1, 1, 1, 1, 2, 3})},
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
      {c10::List<int64_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10})},
      {c10::List<int64_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})},
      {c10::List<int64_t>({1, int64_t{1} << 31})},
      {c10::List<int64_t>()},
      {c10::List<double>({1, 2})},
      {c10::List<bool>({true, false})},
  };
  const size_t alone = calls.size();
  calls.push_back(Inputs(8, matrix));
  calls.push_back(Inputs(9, matrix));
  calls.push_back(Inputs(60, 1));
  calls.push_back(Inputs(200, at::ones({2, 3, 4, 5})));
  for (size_t i = 1; i < alone; ++i) {
    calls.push_back({matrix, calls[i][0], 1});
    calls.push_back({calls[i][0], calls[alone - i][0]});
  }
  return calls;
}

// A range of each call, in their order.
std::vector<RecordedRange> Recorded(const std::vector<Inputs>& calls, int64_t sequence, uint32_t flags) {
  const RecordedWindow window(uint64_t{1} << 30);
  void* session = window.Start(torch_source_flags::kInputs | flags);
  for (const Inputs& inputs : calls) {
    at::RecordFunction range(at::RecordScope::FUNCTION);
    range.before(std::cref(SchemaOf(inputs.size())), c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()),
                 sequence);
  }
  TheSource().stop(session);
  window.Close();
  return window.Named("test::usual");
}

std::vector<uint64_t> StoragesOf(const RecordedRange& range) {
  std::vector<uint64_t> storages;
  for (const TensorIdentity& tensor : range.tensors)
    storages.push_back(tensor.storage);
  return storages;
}

struct How {
  int64_t sequence;
  uint32_t flags;
};
class TorchFastPath : public testing::TestWithParam<How> {};

TEST_P(TorchFastPath, AreThoseOfTheEncoder) {
  const auto [sequence, flags] = GetParam();
  const std::vector<Inputs> calls = Calls();
  const auto usual = Recorded(calls, sequence, flags);
  const auto encoded = Recorded(calls, sequence, flags | torch_source_flags::kOverloadNames);
  ASSERT_EQ(usual.size(), calls.size());
  ASSERT_EQ(encoded.size(), calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(usual[i].arguments, calls[i].size()) << i;
    EXPECT_EQ(usual[i].words, encoded[i].words) << i;
    EXPECT_EQ(StoragesOf(usual[i]), StoragesOf(encoded[i])) << i;
    EXPECT_EQ(usual[i].sequence, sequence) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(WithoutAndWithNumbers, TorchFastPath,
                         testing::Values(How{-1, 0}, How{7, 0}, How{-1, torch_source_flags::kTensors},
                                         How{7, torch_source_flags::kTensors}));

}  // namespace
}  // namespace opscope
