// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <thread>

#include "sources/torch/recorded_window_for_test.h"

namespace opscope {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using Words = std::vector<uint32_t>;

constexpr uint32_t Tag(ArgKind kind, uint32_t count = 0, uint32_t flags = 0, at::ScalarType type = at::kByte) {
  return static_cast<uint32_t>(kind) | static_cast<uint32_t>(type) << 4 | flags | count << 16;
}

// The arguments of a range that is given these inputs.
RecordedRange RangeOf(const std::vector<c10::IValue>& inputs,
                      const std::unordered_map<std::string, c10::IValue>& keywords = {}) {
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kInputs);
  {
    at::RecordFunction range(at::RecordScope::FUNCTION);
    range.before("range", &inputs, &keywords);
  }
  TheSource().stop(session);
  window.Close();
  const auto ranges = window.Named("range");
  EXPECT_EQ(ranges.size(), 1u);
  return ranges.empty() ? RecordedRange() : ranges[0];
}

// Without the padding word.
Words WordsOf(const c10::IValue& value) {
  // A bool of known words behind it tells the end from the padding.
  RecordedRange range = RangeOf({value, c10::IValue(true)});
  EXPECT_EQ(range.arguments, 2);
  while (!range.words.empty() && range.words.back() == 0)
    range.words.pop_back();
  EXPECT_EQ(range.words.back(), Tag(ArgKind::kBool, 1));
  range.words.pop_back();
  return range.words;
}

TEST(TorchArguments, WriteDenseTensorsWithoutStrides) {
  EXPECT_THAT(WordsOf(at::ones({2, 3})),
              ElementsAre(Tag(ArgKind::kTensor, 2, arg_flags::kContiguous, at::kFloat), 2, 3));
  EXPECT_THAT(WordsOf(at::ones({}, at::kLong)),
              ElementsAre(Tag(ArgKind::kTensor, 0, arg_flags::kContiguous, at::kLong)));
}

TEST(TorchArguments, WriteStridesThatSizesDoNotTell) {
  EXPECT_THAT(WordsOf(at::ones({2, 3}).t()), ElementsAre(Tag(ArgKind::kTensor, 2, 0, at::kFloat), 3, 2, 1, 3));
  EXPECT_THAT(WordsOf(at::ones({3, 1}).expand({3, 5})),
              ElementsAre(Tag(ArgKind::kTensor, 2, 0, at::kFloat), 3, 5, 1, 0));
  // Torch lays an empty dimension out as if it were one.
  EXPECT_THAT(WordsOf(at::ones({3, 0, 2})), ElementsAre(Tag(ArgKind::kTensor, 3, 0, at::kFloat), 3, 0, 2, 2, 2, 1));
}

TEST(TorchArguments, UseTwoWordsForLargeSizes) {
  const at::Tensor one = at::ones({1});
  const at::Tensor large = one.expand({int64_t{1} << 33});
  EXPECT_THAT(WordsOf(large), ElementsAre(Tag(ArgKind::kTensor, 1, arg_flags::kWide, at::kFloat), 0, 2, 0, 0));
}

TEST(TorchArguments, NeverAskSparseTensorsForStrides) {
  const at::Tensor sparse = at::ones({2, 2}).to_sparse();
  EXPECT_THAT(WordsOf(sparse), ElementsAre(Tag(ArgKind::kTensor, 2, arg_flags::NoStrides(1), at::kFloat), 2, 2));
}

TEST(TorchArguments, DistinguishLayoutsWithoutStrides) {
  const at::Tensor dense = at::ones({2, 2});
  for (const at::Tensor& tensor : {dense.to_sparse(), dense.to_sparse_csr(), dense.to_sparse_csc()}) {
    const uint32_t tag = WordsOf(tensor).at(0);
    EXPECT_EQ(arg_flags::LayoutOf(tag), static_cast<uint32_t>(tensor.layout()));
    EXPECT_EQ(arg_flags::SizesOf(tag), 2u);
  }
  EXPECT_EQ(arg_flags::LayoutOf(WordsOf(dense).at(0)), 0u);
}

TEST(TorchArguments, ShowUndefinedTensorsAndListsOfThem) {
  EXPECT_THAT(WordsOf(at::Tensor()), ElementsAre(Tag(ArgKind::kUndefined)));
  const c10::IValue list(std::vector<at::Tensor>{at::ones({4}), at::Tensor()});
  EXPECT_THAT(WordsOf(list),
              ElementsAre(Tag(ArgKind::kTensorList, 2), Tag(ArgKind::kTensor, 1, arg_flags::kContiguous, at::kFloat), 4,
                          Tag(ArgKind::kUndefined)));
}

TEST(TorchArguments, KeepScalars) {
  EXPECT_THAT(WordsOf(int64_t{-2}), ElementsAre(Tag(ArgKind::kInt), 0xfffffffeu, 0xffffffffu));
  EXPECT_THAT(WordsOf(1.0), ElementsAre(Tag(ArgKind::kDouble), 0, 0x3ff00000u));
  EXPECT_THAT(WordsOf(false), ElementsAre(Tag(ArgKind::kBool)));
  EXPECT_THAT(WordsOf(c10::complex<double>(1.0, -1.0)),
              ElementsAre(Tag(ArgKind::kComplex), 0, 0x3ff00000u, 0, 0xbff00000u));
}

TEST(TorchArguments, KeepListsOfScalarsUpToTorchsLimit) {
  EXPECT_THAT(WordsOf(std::vector<int64_t>{3, -1}), ElementsAre(Tag(ArgKind::kIntList, 2), 3, 0xffffffffu));
  EXPECT_THAT(WordsOf(std::vector<int64_t>{std::numeric_limits<int64_t>::max()}),
              ElementsAre(Tag(ArgKind::kIntList, 1, arg_flags::kWide), 0xffffffffu, 0x7fffffffu));
  EXPECT_THAT(WordsOf(std::vector<double>{1.0}), ElementsAre(Tag(ArgKind::kDoubleList, 1), 0, 0x3ff00000u));
  EXPECT_THAT(WordsOf(c10::List<bool>({true, false, true})), ElementsAre(Tag(ArgKind::kBoolList, 3), 1, 0, 1));
  EXPECT_THAT(WordsOf(std::vector<int64_t>{}), ElementsAre(Tag(ArgKind::kIntList)));
  EXPECT_EQ(WordsOf(std::vector<int64_t>(30, 7)).size(), 31u);
  EXPECT_THAT(WordsOf(std::vector<int64_t>(31, 7)), ElementsAre(Tag(ArgKind::kOther)));
}

TEST(TorchArguments, MarkTheRestAsOther) {
  EXPECT_THAT(WordsOf(c10::IValue()), ElementsAre(Tag(ArgKind::kOther)));
  EXPECT_THAT(WordsOf(std::string("text")), ElementsAre(Tag(ArgKind::kOther)));
  EXPECT_THAT(WordsOf(c10::Device("cpu")), ElementsAre(Tag(ArgKind::kOther)));
  c10::List<std::optional<at::Tensor>> optional_tensors;
  optional_tensors.push_back(at::ones({2}));
  EXPECT_THAT(WordsOf(optional_tensors), ElementsAre(Tag(ArgKind::kOther)));
}

TEST(TorchArguments, FitWhateverTheirNumber) {
  // 4,000 tensors of 3 dimensions need 16,000 words, far more than the buffer on the stack; 40,000
  // need more than a usual chunk.
  for (const size_t count : {size_t{200}, size_t{4000}, size_t{40000}}) {
    const std::vector<at::Tensor> tensors(count, at::ones({5, 6, 7}));
    const Words words = WordsOf(c10::IValue(tensors));
    ASSERT_EQ(words.size(), 1 + 4 * count);
    EXPECT_EQ(words[0], Tag(ArgKind::kTensorList, static_cast<uint32_t>(count)));
    EXPECT_THAT(Words(words.end() - 4, words.end()),
                ElementsAre(Tag(ArgKind::kTensor, 3, arg_flags::kContiguous, at::kFloat), 5, 6, 7));
  }
}

TEST(TorchArguments, AreTheLastOnesOfABoxedCallsStack) {
  const auto add = c10::Dispatcher::singleton().findSchemaOrThrow("aten::add", "Tensor");
  torch::jit::Stack stack;
  stack.emplace_back(std::string("below the call's own arguments"));
  stack.emplace_back(at::ones({2}));
  stack.emplace_back(at::ones({2}));
  stack.emplace_back(c10::Scalar(1));
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kInputs);
  add.callBoxed(&stack);
  TheSource().stop(session);
  window.Close();
  const auto ranges = window.Named("aten::add");
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].arguments, 3);
  EXPECT_EQ(ranges[0].words[0], Tag(ArgKind::kTensor, 1, arg_flags::kContiguous, at::kFloat));
}

TEST(TorchArguments, KeepNoTensorAlive) {
  at::Tensor x = at::ones({2});
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kInputs);
  (void)at::add(x, x);
  EXPECT_EQ(x.use_count(), 1u);
  TheSource().stop(session);
  window.Close();
}

TEST(TorchArguments, RenderKeywordsAsJsonMembers) {
  EXPECT_EQ(RangeOf({}, {{"a", int64_t{1}}}).keywords, "\"a\": 1");
  EXPECT_EQ(RangeOf({}, {{"a", 3.0}}).keywords, "\"a\": 3.0");
  EXPECT_EQ(RangeOf({}, {{"a", 1e300}}).keywords, "\"a\": 1e+300");
  EXPECT_EQ(RangeOf({}, {{"a", std::numeric_limits<double>::quiet_NaN()}}).keywords, "\"a\": \"NaN\"");
  EXPECT_EQ(RangeOf({}, {{"q\"", std::string("line\nand \\")}}).keywords, "\"q\\\"\": \"line\\u000aand \\\\\"");
  EXPECT_EQ(RangeOf({}, {{"a", c10::List<std::string>({"x", "y"})}}).keywords, "\"a\": [\"x\", \"y\"]");
  EXPECT_EQ(RangeOf({}, {{"a", c10::IValue()}}).keywords, "\"a\": null");
  EXPECT_EQ(RangeOf({}, {{"a", std::string(100000, 'k')}}).keywords.size(), 100007u);
  EXPECT_EQ(RangeOf({c10::IValue(1)}).keywords, "");
}

// Of a window with kInputs and overload names.
std::vector<RecordedRange> AddsOf(const std::function<void()>& work) {
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kInputs | torch_source_flags::kOverloadNames);
  work();
  TheSource().stop(session);
  window.Close();
  return window.Named("aten::add");
}

TEST(TorchArguments, AreThoseOfTheCallItselfWhateverCameBefore) {
  const at::NoGradGuard none;
  const at::Tensor small = at::ones({2}), large = at::ones({3, 4});
  const std::vector<RecordedRange> adds = AddsOf([&] {
    for (const at::Tensor& tensor : {small, small, large, large, small, small.to(at::kDouble)})
      (void)at::add(tensor, tensor);
    (void)at::add(small, 1);  // adds a tensor, too
  });
  ASSERT_EQ(adds.size(), 8u);
  const auto tensor = [](at::ScalarType type, const Words& sizes) {
    Words words = {Tag(ArgKind::kTensor, static_cast<uint32_t>(sizes.size()), arg_flags::kContiguous, type)};
    words.insert(words.end(), sizes.begin(), sizes.end());
    return words;
  };
  const std::vector<Words> expected = {tensor(at::kFloat, {2}),    tensor(at::kFloat, {2}), tensor(at::kFloat, {3, 4}),
                                       tensor(at::kFloat, {3, 4}), tensor(at::kFloat, {2}), tensor(at::kDouble, {2}),
                                       tensor(at::kFloat, {2}),    tensor(at::kFloat, {2})};
  for (size_t i = 0; i < adds.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(adds[i].arguments, 3);
    EXPECT_THAT(Words(adds[i].words.begin(), adds[i].words.begin() + static_cast<long>(expected[i].size())),
                ElementsAreArray(expected[i]));
  }
  EXPECT_EQ(adds[0].overload, "Tensor");
  EXPECT_EQ(adds[7].overload, "Scalar");
}

TEST(TorchArguments, OfOperatorsWithNumbersHaveTheirOwnNumbers) {
  const at::Tensor x = at::ones({2, 3}).requires_grad_(true);
  const std::vector<RecordedRange> adds = AddsOf([&] {
    for (int i = 0; i < 4; ++i)
      (void)at::add(x, x);
  });
  ASSERT_EQ(adds.size(), 4u);
  for (size_t i = 1; i < adds.size(); ++i) {
    EXPECT_EQ(adds[i].words, adds[0].words);
    EXPECT_EQ(adds[i].sequence, adds[0].sequence + static_cast<int64_t>(i));
    EXPECT_EQ(adds[i].overload, "Tensor");
  }
}

TEST(TorchArguments, SurviveTheEndOfTheirThreadAndOfTheirChunk) {
  const at::Tensor x = at::ones({2, 3}).requires_grad_(true);
  const RecordedWindow window;
  constexpr size_t kAdds = 20000;  // of 72 bytes, in chunks of 256 KiB
  for (const size_t count : {size_t{20}, kAdds}) {
    std::thread([&] {
      void* session = window.Start(torch_source_flags::kInputs);
      void* outer = TheTorchSource().enter("outer", 5, nullptr, 0);
      for (size_t i = 0; i < count; ++i)
        (void)at::add(x, x);
      TheTorchSource().exit(outer);
      TheSource().stop(session);
    }).join();
  }
  window.Close();
  const std::vector<RecordedRange> adds = window.Named("aten::add");
  ASSERT_EQ(adds.size(), kAdds + 20);
  for (const RecordedRange& add : adds)
    ASSERT_EQ(add.words, adds[0].words);
  EXPECT_EQ(adds[0].words[0], Tag(ArgKind::kTensor, 2, arg_flags::kContiguous, at::kFloat));
}

}  // namespace
}  // namespace opscope
