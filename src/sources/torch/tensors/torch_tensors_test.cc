// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sources/torch/recorded_window_for_test.h"

namespace opscope {
namespace {

constexpr uint32_t kTensorFlags = torch_source_flags::kInputs | torch_source_flags::kTensors;

uint64_t NumberIn(const TensorIdentity& identity) {
  return identity.tensor & 0xffffffffffffu;
}

// What `run` records under these flags.
template <typename Run>
std::vector<RecordedRange> RecordTensors(const Run& run, uint32_t flags = kTensorFlags) {
  const RecordedWindow window;
  void* session = window.Start(flags);
  run();
  TheSource().stop(session);
  window.Close();
  return window.Ranges();
}

// Of the ranges of this name, in their order.
std::vector<TensorIdentity> IdentitiesOf(const std::vector<RecordedRange>& ranges, const std::string& name) {
  std::vector<TensorIdentity> identities;
  for (const RecordedRange& range : ranges) {
    if (range.name == name) identities.insert(identities.end(), range.tensors.begin(), range.tensors.end());
  }
  return identities;
}

uint64_t DataOf(const at::Tensor& tensor) {
  return reinterpret_cast<uint64_t>(tensor.storage().data());
}

TEST(TorchTensors, AreIdentifiedByNumberAndStorageInOrderOfTheArguments) {
  const at::Tensor a = at::ones({2, 2}), b = at::ones({2, 2});
  const auto ranges = RecordTensors([&] { (void)at::cat({a, b, a}); });
  const auto identities = IdentitiesOf(ranges, "aten::cat");
  ASSERT_EQ(identities.size(), 3u);
  EXPECT_EQ(identities[0].storage, DataOf(a));
  EXPECT_EQ(identities[1].storage, DataOf(b));
  EXPECT_EQ(identities[2].tensor, identities[0].tensor);
  EXPECT_NE(NumberIn(identities[1]), NumberIn(identities[0]));
  EXPECT_NE(NumberIn(identities[0]), 0u);
  EXPECT_EQ(identities[0].tensor >> 48, 0xff00u) << "the CPU, without an index";
}

TEST(TorchTensors, OfAViewHaveItsStorageAndAnotherNumber) {
  const at::Tensor a = at::ones({4});
  const at::Tensor view = a.slice(0, 2);
  const auto identities = IdentitiesOf(RecordTensors([&] { (void)at::add(a.slice(0, 0, 2), view); }), "aten::add");
  ASSERT_EQ(identities.size(), 2u);
  EXPECT_EQ(identities[0].storage, identities[1].storage);
  EXPECT_NE(NumberIn(identities[0]), NumberIn(identities[1]));
}

TEST(TorchTensors, KeepTheirNumberWhenTheirStorageChanges) {
  at::Tensor a = at::ones({4});
  const auto identities = IdentitiesOf(RecordTensors([&] {
                                         a.relu_();
                                         a.set_data(at::ones({8}));
                                         a.relu_();
                                       }),
                                       "aten::relu_");
  ASSERT_EQ(identities.size(), 2u);
  EXPECT_NE(identities[0].storage, identities[1].storage);
  EXPECT_EQ(identities[0].tensor, identities[1].tensor);
}

TEST(TorchTensors, NeverShareANumberAcrossReusedBodies) {
  constexpr size_t kTensors = 100'000;  // more than there are places
  const auto ranges = RecordTensors([&] {
    for (size_t i = 0; i < kTensors; ++i)
      (void)at::relu(at::empty({1}));
  });
  std::set<uint64_t> numbers;
  for (const TensorIdentity& identity : IdentitiesOf(ranges, "aten::relu"))
    numbers.insert(NumberIn(identity));
  EXPECT_EQ(numbers.size(), kTensors);
  EXPECT_FALSE(numbers.contains(0));
}

// Torch tells when a body of c10::TensorImpl dies. Others, as this one's, have to be held.
at::Tensor OfAnotherClass() {
  return at::ones({1, 1}).to_sparse();
}

TEST(TorchTensors, OfAnotherClassNeverShareANumberAcrossReusedBodies) {
  constexpr size_t kTensors = 35'000;  // more than there are places: dead ones are given up
  const at::Tensor tensor = OfAnotherClass();
  const auto ranges = RecordTensors([&] {
    for (size_t i = 0; i < kTensors; ++i)
      (void)tensor.detach()._dimI();
  });
  const std::vector<TensorIdentity> identities = IdentitiesOf(ranges, "aten::_dimI");
  ASSERT_EQ(identities.size(), kTensors);
  std::set<uint64_t> numbers;
  for (const TensorIdentity& identity : identities)
    numbers.insert(NumberIn(identity));
  EXPECT_EQ(numbers.size(), kTensors);
  EXPECT_FALSE(numbers.contains(0));
}

TEST(TorchTensors, ThatDieOnAnotherThreadLeaveTheirNumberToNobody) {
  constexpr size_t kRounds = 50, kAtOnce = 40;
  std::set<const void*> bodies;
  const auto ranges = RecordTensors([&] {
    for (size_t round = 0; round < kRounds; ++round) {
      std::vector<at::Tensor> tensors;
      for (size_t i = 0; i < kAtOnce; ++i) {
        tensors.push_back(at::empty({1}));
        bodies.insert(tensors.back().unsafeGetTensorImpl());
        (void)at::relu(tensors.back());
      }
      std::thread([dying = std::move(tensors)] {}).join();
    }
  });
  // A sanitizer keeps what is freed; then nothing is reused that could have the number of another.
  if (bodies.size() == kRounds * kAtOnce) GTEST_SKIP() << "the allocator gives out no address again";
  std::set<uint64_t> numbers;
  for (const TensorIdentity& identity : IdentitiesOf(ranges, "aten::relu"))
    numbers.insert(NumberIn(identity));
  EXPECT_EQ(numbers.size(), kRounds * kAtOnce);
}

// What the body's class has for functions, of which one deletes it.
std::vector<const void*> FunctionsOf(const at::Tensor& tensor) {
  const void* const* table = nullptr;
  std::memcpy(&table, tensor.unsafeGetTensorImpl(), sizeof(table));
  return std::vector<const void*>(table, table + 8);
}

TEST(TorchTensors, OfTheUsualClassAreNotHeldAndTheirClassIsAsBeforeAfterwards) {
  const at::Tensor tensor = at::ones({4});
  const std::vector<const void*> functions = FunctionsOf(tensor);
  std::vector<const void*> within_two, within_one;
  const c10::weak_intrusive_ptr<c10::TensorImpl> body(tensor.getIntrusivePtr());
  const size_t before = body.weak_use_count();
  (void)RecordTensors([&] {
    (void)RecordTensors([&] {
      (void)at::relu(tensor);
      within_two = FunctionsOf(tensor);
    });
    (void)at::relu(tensor);
    within_one = FunctionsOf(tensor);
    EXPECT_EQ(body.weak_use_count(), before);
  });
  EXPECT_NE(within_two, functions);
  EXPECT_EQ(within_one, within_two);
  EXPECT_EQ(FunctionsOf(tensor), functions);
}

TEST(TorchTensors, OfAnotherClassAreLetGoWhenTheLastWindowStops) {
  at::Tensor tensor = OfAnotherClass();
  const c10::weak_intrusive_ptr<c10::TensorImpl> body(tensor.getIntrusivePtr());
  const size_t before = body.weak_use_count();
  size_t during = 0;
  (void)RecordTensors([&] {
    (void)at::neg(tensor);
    (void)at::neg(tensor);
    during = body.weak_use_count();
  });
  EXPECT_EQ(during, before + 1);
  EXPECT_EQ(body.weak_use_count(), before);
}

TEST(TorchTensors, OfAnotherClassThatAreDeadAreLetGoBeforeTheWindowStops) {
  constexpr int kYoung = 100, kOlder = 3000;  // more new tensors than a dead one waits for
  for (const bool dies_at_once : {true, false}) {
    c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> body(at::ones({1}).getIntrusivePtr());
    size_t references = 0;
    (void)RecordTensors([&] {
      at::Tensor tensor = OfAnotherClass();
      body = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>(tensor.getIntrusivePtr());
      (void)tensor._dimI();
      std::vector<at::Tensor> others;
      const auto see_others = [&](int count) {
        for (int i = 0; i < count; ++i)
          (void)others.emplace_back(OfAnotherClass())._dimI();
      };
      if (!dies_at_once) see_others(kYoung);
      tensor.reset();
      see_others(dies_at_once ? kYoung : kOlder);
      references = body.weak_use_count();
    });
    EXPECT_EQ(references, 1u) << "this test's own; dies at once: " << dies_at_once;
  }
}

TEST(TorchTensors, OfListsLongerThanTheRoomOnTheStackAreAllKept) {
  std::vector<at::Tensor> many;
  for (int i = 0; i < 100; ++i)
    many.push_back(at::ones({1}));
  const auto identities = IdentitiesOf(RecordTensors([&] { (void)at::cat(many); }), "aten::cat");
  ASSERT_EQ(identities.size(), many.size());
  for (size_t i = 0; i < many.size(); ++i)
    EXPECT_EQ(identities[i].storage, DataOf(many[i]));
}

TEST(TorchTensors, WithoutStorageHaveAddressZero) {
  const at::Tensor sparse = at::ones({2, 2}).to_sparse();
  const auto identities = IdentitiesOf(RecordTensors([&] { (void)sparse.coalesce(); }), "aten::coalesce");
  ASSERT_EQ(identities.size(), 1u);
  EXPECT_EQ(identities[0].storage, 0u);
}

// Its body would keep the parts of a compressed one.
TEST(TorchTensors, ThatAreSparseAndCompressedAreNotHeld) {
  size_t left = 0;
  const auto ranges = RecordTensors([&] {
    at::Tensor sparse = at::eye(4).to_sparse_csr();
    (void)sparse.sin();
    const at::Storage values = sparse.values().storage();
    sparse.reset();
    left = values.use_count();
  });
  EXPECT_EQ(left, 1u);
  const auto identities = IdentitiesOf(ranges, "aten::sin");
  ASSERT_FALSE(identities.empty());
  EXPECT_EQ(NumberIn(identities.back()), 0u) << "its values are asked before";
}

TEST(TorchTensors, LeaveTheArgumentsAsTheyWere) {
  const at::Tensor a = at::ones({2, 3});
  const auto words = [&](uint32_t flags) {
    for (const RecordedRange& range : RecordTensors([&] { (void)at::add(a, a); }, flags)) {
      if (range.name == "aten::add") return range.words;
    }
    return std::vector<uint32_t>();
  };
  EXPECT_FALSE(words(kTensorFlags).empty());
  EXPECT_EQ(words(kTensorFlags), words(torch_source_flags::kInputs));
}

TEST(TorchTensors, AreNotRecordedUnlessAskedFor) {
  const at::Tensor a = at::ones({2});
  const auto ranges = RecordTensors([&] { (void)at::relu(a); }, torch_source_flags::kInputs);
  EXPECT_THAT(IdentitiesOf(ranges, "aten::relu"), testing::IsEmpty());
}

TEST(TorchTensors, ThatAnObjectHoldsBecomeOneRecord) {
  const at::Tensor weight = at::ones({4, 8}), gradient = at::ones({4, 8}).t();
  const std::vector<ReferencedTensorImpl> held = {{weight.unsafeGetTensorImpl(), TensorRole::kParameter},
                                                  {gradient.unsafeGetTensorImpl(), TensorRole::kGradient}};
  const auto ranges = RecordTensors([&] { TheTorchSource().hold(0xabc, held.data(), held.size()); });
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].record.kind, RecordKind::kHeld);
  EXPECT_EQ(ranges[0].record.value, 0xabcu);
  ASSERT_EQ(ranges[0].held.size(), 2u);
  EXPECT_EQ(ranges[0].held[0].identity.storage, DataOf(weight));
  EXPECT_EQ(ranges[0].held[0].bytes, 128);
  EXPECT_EQ(ranges[0].held[1].role, TensorRole::kGradient);
  EXPECT_EQ(ranges[0].held[1].bytes, 128);
}

TEST(TorchTensors, ThatAnObjectHoldsHaveTheirNamesInTheChunkOfTheirRecord) {
  const at::Tensor weight = at::ones({4});
  std::vector<std::string> names(2000);  // more than fit into one chunk
  for (size_t i = 0; i < names.size(); ++i)
    names[i] = "parameter " + std::to_string(i) + std::string(i % 300, 'x');
  std::vector<ReferencedTensorImpl> held;
  for (const std::string& name : names)
    held.push_back({weight.unsafeGetTensorImpl(), TensorRole::kParameter, name.c_str()});
  held.push_back({weight.unsafeGetTensorImpl(), TensorRole::kGradient});
  std::vector<std::string> found;
  for (const RecordedRange& range : RecordTensors([&] { TheTorchSource().hold(0xabc, held.data(), held.size()); }))
    found.insert(found.end(), range.held_names.begin(), range.held_names.end());
  for (std::string& name : names)
    name.resize(std::min<size_t>(name.size(), 256));
  names.emplace_back();
  EXPECT_EQ(found, names);
}

TEST(TorchTensors, ThatAreHeldAreRecordedWithoutInputs) {
  const at::Tensor weight = at::ones({4});
  const ReferencedTensorImpl held = {weight.unsafeGetTensorImpl(), TensorRole::kParameter, "weight"};
  const auto ranges = RecordTensors(
      [&] {
        TheTorchSource().hold(0xabc, &held, 1);
        (void)at::neg(weight);
      },
      torch_source_flags::kTensors);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].held_names, std::vector<std::string>{"weight"});
  EXPECT_THAT(IdentitiesOf(ranges, "aten::neg"), testing::IsEmpty());
}

TEST(TorchTensors, ThatAreTooManyForOneRecordHaveSeveralOfOneTime) {
  const at::Tensor weight = at::ones({4});
  const std::vector<ReferencedTensorImpl> held(600, {weight.unsafeGetTensorImpl(), TensorRole::kParameter});
  const auto ranges = RecordTensors([&] { TheTorchSource().hold(0xabc, held.data(), held.size()); });
  size_t tensors = 0;
  for (const RecordedRange& range : ranges) {
    EXPECT_EQ(range.record.start, ranges[0].record.start);
    tensors += range.held.size();
  }
  EXPECT_GT(ranges.size(), 1u);
  EXPECT_EQ(tensors, held.size());
}

TEST(TorchTensors, AreHeldByNoWindowThatDidNotAsk) {
  const at::Tensor weight = at::ones({4});
  const c10::weak_intrusive_ptr<c10::TensorImpl> body(weight.getIntrusivePtr());
  const size_t before = body.weak_use_count();
  const ReferencedTensorImpl held = {weight.unsafeGetTensorImpl(), TensorRole::kParameter};
  EXPECT_THAT(RecordTensors([&] { TheTorchSource().hold(1, &held, 1); }, torch_source_flags::kInputs),
              testing::IsEmpty());
  EXPECT_EQ(body.weak_use_count(), before);
}

TEST(TorchOperators, AreToldWithEveryOverloadOfTheirNames) {
  const at::Tensor a = at::ones({2});
  const RecordedWindow window;
  void* session = window.Start(kTensorFlags);
  at::empty({2}).add_(a.add(a));
  TheSource().stop(session);
  const std::string info = window.Info(), key = '"' + std::string(kOperatorsKey) + "\":\"";
  const size_t begin = info.find(key);
  ASSERT_NE(begin, std::string::npos) << info;
  std::string text = info.substr(begin + key.size(), info.find('"', begin + key.size()) - begin - key.size());
  text = ";" + text + ";";
  const auto told = [&text](const std::string& name) {
    const size_t at = text.find(";" + name + " ");
    return at == std::string::npos ? std::string() : text.substr(at + 1, text.find(';', at + 1) - at - 1);
  };
  EXPECT_THAT(told("aten::add_"), testing::HasSubstr(" t!tn"));
  EXPECT_THAT(told("aten::add"), testing::HasSubstr(" ttnt!"));
  EXPECT_THAT(told("aten::empty"), testing::HasSubstr("?i"));
}

}  // namespace
}  // namespace opscope
