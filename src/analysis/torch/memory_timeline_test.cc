// Traces made by hand, one per rule; that whole programs give torch's own rows is shown by
// python/tests/test_torch_memory_timeline.py.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/memory_timeline.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

constexpr uint64_t kBlock = 0x1000;  // storage n lies at n * kBlock

// A program on one thread: operators in order, each 10 ns long and 10 ns after the last, with tensors by number.
class Program {
 public:
  Program() : track_(builder_->AddTrack({.process = builder_->AddProcess({.pid = 1})})) {
    Operator("read", "t");
    Operator("read2", "tt");
    Operator("write", "t!");
    Operator("update", "t!t");
    Operator("make", ".");
    Operator("aten::detach", "t");
    Operator("either", "t");
    Operator("either", "t!");
    Operator("lists", "T!?t");
    Operator("aten::add_", "t!tn");
  }

  void Operator(const char* name, const char* arguments) {
    builder_->AddOperator(builder_->Intern(name), builder_->Intern(arguments));
  }

  // An operator, and what is allocated (+n) and freed (-n) while it runs.
  Program& Op(const char* name, std::vector<int> storages, std::vector<int> allocations = {}) {
    std::vector<ArgumentRow> arguments;
    for (size_t i = 0; i < storages.size(); ++i)
      arguments.push_back(Tensor());
    return Call(name, arguments, storages, allocations);
  }

  Program& Call(const char* name, const std::vector<ArgumentRow>& arguments, const std::vector<int>& storages,
                const std::vector<int>& allocations = {}, ScopeType scope = ScopeType::kFunction) {
    SpanRow row;
    row.start = {now_}, row.duration = {10}, row.name = builder_->Intern(name), row.track = track_;
    row.category = builder_->Intern("cpu_op"), row.scope = scope;
    row.args = builder_->AddArguments(arguments);
    const AddedSpan span = builder_->AddSpan(row);
    for (const int storage : storages)
      AddTensor(span, storage);
    for (const int storage : allocations)
      Memory(storage, now_ + 5);
    now_ += 20;
    return *this;
  }

  // What autograd runs, with one operator inside it.
  Program& Backward(const char* name, const char* inner, std::vector<int> storages, std::vector<int> allocations = {}) {
    SpanRow row;
    row.start = {now_ - 1}, row.duration = {12}, row.name = builder_->Intern(name), row.track = track_;
    row.category = builder_->Intern("cpu_op"), row.scope = ScopeType::kBackwardFunction;
    builder_->AddSpan(row);
    return Op(inner, std::move(storages), std::move(allocations));
  }

  Program& Allocate(int storage) { return Memory(storage, now_ += 20); }
  Program& Free(int storage) { return Memory(-storage, now_ += 20); }

  Program& Hold(StoredAs held_as, int storage, uint64_t owner = 1) {
    builder_->AddHeldTensor({.time = {now_ - 5},
                             .track = track_,
                             .owner = owner,
                             .held_as = held_as,
                             .tensor = static_cast<uint64_t>(storage),
                             .storage = static_cast<uint64_t>(storage) * kBlock,
                             .bytes = 64});
    return *this;
  }

  // What follows is of a thread of another process.
  Program& InAnotherProcess() {
    track_ = builder_->AddTrack({.process = builder_->AddProcess({.pid = 2})});
    return *this;
  }

  // The next tensors are these objects, instead of one per storage.
  Program& As(uint64_t tensor) {
    tensor_ = tensor;
    return *this;
  }

  MemoryTimeline Timeline() { return BuildMemoryTimeline(trace_.emplace_back(builder_->Build())); }

  // "action storage category[>next]" of every row.
  std::string Rows() {
    constexpr const char* kActions[] = {"?", "was", "new", "write", "free"};
    std::string text;
    for (const MemoryTimelineRow& row : Timeline().rows) {
      text.append(text.empty() ? "" : ", ").append(kActions[static_cast<int>(row.action)]).append(" ");
      text.append(std::to_string(row.address / kBlock)).append(" ").append(MemoryCategoryName(row.category));
      if (row.action == MemoryAction::kIncrementVersion) text.append(">").append(MemoryCategoryName(row.next_category));
    }
    return text;
  }

  ArgumentRow Tensor() {
    static constexpr int64_t kSizes[] = {4, 4}, kStrides[] = {4, 1};
    return {.kind = ArgumentKind::kTensor,
            .dtype = builder_->Intern("float"),
            .has_strides = true,
            .sizes = kSizes,
            .strides = kStrides};
  }
  ArgumentRow Scalar(const char* value) {
    return {.kind = ArgumentKind::kScalar, .dtype = builder_->Intern("Scalar"), .value = builder_->Intern(value)};
  }

 private:
  Program& Memory(int storage, int64_t time) {
    const int64_t bytes = storage < 0 ? -64 : 64;
    builder_->AddAllocation({.time = {time},
                             .track = track_,
                             .address = static_cast<uint64_t>(storage < 0 ? -storage : storage) * kBlock,
                             .bytes = bytes});
    return *this;
  }

  void AddTensor(AddedSpan span, int storage) {
    const auto number = static_cast<uint64_t>(storage);
    builder_->AddTensor({.span = span, .tensor = tensor_.value_or(number), .storage = number * kBlock});
  }

  std::unique_ptr<TraceBuilder> builder_ = std::make_unique<TraceBuilder>();
  TrackId track_;
  int64_t now_ = 100;
  std::optional<uint64_t> tensor_;
  std::vector<Trace> trace_;
};

TEST(MemoryTimeline, OfMemoryThatNoOperatorUsesIsUnknown) {
  EXPECT_EQ(Program().Allocate(1).Free(1).Rows(), "new 1 Unknown, free 1 Unknown");
}

TEST(MemoryTimeline, BlocksThatAreOnlyFreedWereThereBefore) {
  EXPECT_EQ(Program().Free(1).Rows(), "was 1 Unknown, free 1 Unknown");
}

TEST(MemoryTimeline, TensorsThatWereNotAllocatedWereThereBefore) {
  EXPECT_EQ(Program().Op("read", {1}).Rows(), "was 1 Unknown");
}

TEST(MemoryTimeline, AWriteMakesAVersionAndAReadDoesNot) {
  EXPECT_EQ(Program().Op("write", {1}).Op("read", {1}).Rows(), "was 1 Unknown, write 1 Unknown>Unknown");
}

TEST(MemoryTimeline, AnyOverloadThatFitsAndWritesIsAWrite) {
  EXPECT_EQ(Program().Op("either", {1}).Rows(), "was 1 Unknown, write 1 Unknown>Unknown");
}

TEST(MemoryTimeline, AnOperatorOfUnknownKindIsNoNodeAndChangesNothing) {
  EXPECT_EQ(Program().Op("unheard::of", {1}).Rows(), "");
}

TEST(MemoryTimeline, ScalarsDecideWhichOverloadFits) {
  Program program;
  const auto call = [&](const char* scalar) {
    program.Call("aten::add_", {program.Tensor(), program.Tensor(), program.Scalar(scalar)}, {1, 2});
  };
  call("2"), call("0.5"), call("True"), call("1+2j");
  EXPECT_EQ(program.Timeline().rows.size(), 2u + 4u);
  Program other;
  other.Operator("takes_int", "t!i");
  other.Call("takes_int", {other.Tensor(), other.Scalar("0.5")}, {1});
  EXPECT_EQ(other.Rows(), "");
}

TEST(MemoryTimeline, ListsOfTensorsAreWrittenAsAWhole) {
  Program program;
  const std::vector<ArgumentRow> tensors = {program.Tensor(), program.Tensor()};
  const ArgumentRow list = {.kind = ArgumentKind::kTensorList, .tensors = tensors};
  program.Call("lists", {list, {}}, {1, 2});
  EXPECT_EQ(program.Rows(), "was 1 Unknown, was 2 Unknown, write 1 Unknown>Unknown, write 2 Unknown>Unknown");
}

TEST(MemoryTimeline, WhatOneOperatorAllocatesAndFreesIsTemporary) {
  EXPECT_EQ(Program().Op("write", {3}, {3, -3}).Rows(), "new 3 TEMPORARY, free 3 TEMPORARY");
  EXPECT_EQ(Program().Op("make", {}, {3, -3}).Rows(), "new 3 Unknown, free 3 Unknown") << "no tensor is seen there";
}

TEST(MemoryTimeline, ParametersMakeInputsAndActivationsOfTheRest) {
  EXPECT_EQ(
      Program().Hold(StoredAs::kParameter, 1).Op("read2", {1, 2}, {3}).Op("read", {3}, {4}).Op("read", {4}).Rows(),
      "was 1 PARAMETER, was 2 INPUT, new 3 ACTIVATION, new 4 ACTIVATION");
}

TEST(MemoryTimeline, StateOfAnOptimizerOverridesWhatItLooksLike) {
  EXPECT_EQ(Program().Hold(StoredAs::kParameter, 1).Hold(StoredAs::kOptimizerState, 2).Op("read2", {1, 2}).Rows(),
            "was 1 PARAMETER, was 2 OPTIMIZER_STATE");
}

TEST(MemoryTimeline, WhatAnObjectHoldsCountsAtItsFirstTime) {
  Program program;
  program.Hold(StoredAs::kParameter, 1).Op("read", {1}).Hold(StoredAs::kParameter, 2).Op("read", {2});
  EXPECT_EQ(program.Rows(), "was 1 PARAMETER, was 2 Unknown");
}

// One training step: y = read2(w, x), the gradient of w is g, and w is updated with it.
Program TrainingStep() {
  Program program;
  program.Op("read2", {1, 2}, {3}).Op("read", {3});
  program.Backward("MulBackward0", "read2", {3, 2}, {4});
  program.Backward("torch::autograd::AccumulateGrad", "aten::detach", {4});
  program.Op("update", {1, 4});
  return program;
}

TEST(MemoryTimeline, WhatIsAccumulatedIsAGradient) {
  EXPECT_NE(TrainingStep().Rows().find("new 4 GRADIENT"), std::string::npos);
}

TEST(MemoryTimeline, ParametersAndInputsAreFoundByDataFlowAlone) {
  EXPECT_EQ(TrainingStep().Rows(),
            "was 1 PARAMETER, was 2 INPUT, new 3 ACTIVATION, new 4 GRADIENT, write 1 PARAMETER>PARAMETER");
}

TEST(MemoryTimeline, OtherTensorsOfTheBackwardPassAreDetailsOfAutograd) {
  Program program = TrainingStep();
  program.Backward("ReluBackward0", "read", {4}, {5}).Op("read", {5}).Free(5);
  EXPECT_NE(program.Rows().find("new 5 AUTOGRAD_DETAIL, free 5 AUTOGRAD_DETAIL"), std::string::npos);
}

TEST(MemoryTimeline, ATensorKeepsItsCategoryWhenItsStorageChanges) {
  Program program;
  program.Hold(StoredAs::kParameter, 7).As(7).Op("read", {7}).Op("read", {8});
  EXPECT_EQ(program.Rows(), "was 7 PARAMETER, was 8 PARAMETER");
}

TEST(MemoryTimeline, TensorsWithoutANumberAreNotMixedUp) {
  const MemoryTimeline timeline = Program().As(0).Op("read", {1}).Op("read", {2}).Timeline();
  ASSERT_EQ(timeline.rows.size(), 2u);
  EXPECT_NE(timeline.rows[0].tensor, timeline.rows[1].tensor);
}

TEST(MemoryTimeline, AReusedAddressIsAnotherStorage) {
  Program program;
  program.Hold(StoredAs::kParameter, 1).Op("read", {1}).Free(1).As(99).Op("read", {}, {1}).Op("write", {1});
  const MemoryTimeline timeline = program.Timeline();
  std::map<uint32_t, int> rows_of_tensor;
  for (const MemoryTimelineRow& row : timeline.rows)
    ++rows_of_tensor[row.tensor];
  EXPECT_EQ(rows_of_tensor.size(), 2u);
}

TEST(MemoryTimeline, ABlockThatIsAllocatedTwiceIsTwoStorages) {
  Program program;
  for (int i = 0; i < 2; ++i)
    program.Op("make", {}, {1}).Op("read", {1});
  EXPECT_EQ(program.Free(1).Rows(), "new 1 Unknown, new 1 Unknown, free 1 Unknown");
}

TEST(MemoryTimeline, TheSameAddressInTwoProcessesIsTwoStorages) {
  Program program;
  program.Hold(StoredAs::kParameter, 1).Op("read", {1}).InAnotherProcess().As(99).Op("write", {1});
  EXPECT_EQ(program.Rows(), "was 1 PARAMETER, was 1 Unknown, write 1 Unknown>Unknown");
}

TEST(MemoryTimeline, SizesAreThoseOfTheAllocationElseOfTheLargestTensor) {
  const MemoryTimeline timeline = Program().Op("read", {1}).Op("read", {2}, {2}).Timeline();
  ASSERT_EQ(timeline.rows.size(), 2u);
  EXPECT_EQ(timeline.rows[0].bytes, 4 * 4 * 4);
  EXPECT_EQ(timeline.rows[1].bytes, 64);
}

TEST(MemoryTimeline, AnEmptyTraceHasNoRows) {
  const MemoryTimeline timeline = BuildMemoryTimeline(Trace());
  EXPECT_TRUE(timeline.rows.empty());
  EXPECT_FALSE(timeline.has_operators);
}

TEST(MemoryTimeline, TensorsThatContradictTheirArgumentsAreBorne) {
  Program program;
  program.Call("read", {program.Tensor()}, {1, 2, 3});  // more tensors than arguments
  program.Call("read2", {program.Tensor(), program.Tensor()}, {4});
  program.Call("lists", {}, {5});
  EXPECT_FALSE(program.Timeline().rows.empty());
}

TEST(MemoryTimeline, ACallWithTooFewTensorsTakesNoneOfOtherCalls) {
  Program program;
  const std::vector<ArgumentRow> tensors = {program.Tensor(), program.Tensor(), {}};
  const ArgumentRow list = {.kind = ArgumentKind::kTensorList, .tensors = tensors};
  program.Call("any", {list, program.Tensor()}, {1}, {}, ScopeType::kBackwardFunction);
  program.Op("read", {2}).Op("read", {3});
  EXPECT_EQ(program.Rows(), "was 2 Unknown, was 3 Unknown");
}

// Each operator writes what the one before it has read, so that the gradient at the end reaches one tensor more only
// against the order of time.
TEST(MemoryTimeline, FollowsALongChainAgainstTheOrderOfTimeInLinearTime) {
  constexpr int kTensors = 50'000;
  Program program;
  program.Hold(StoredAs::kGradient, kTensors);
  for (int i = 1; i < kTensors; ++i)
    program.Op("update", {i, i + 1});
  EXPECT_EQ(program.Timeline().rows.size(), size_t{2 * kTensors - 1});
}

TEST(MemoryByCategory, StandsAtTheFirstTimeForWhatWasThereBefore) {
  MemoryTimeline timeline;
  timeline.rows.push_back(
      {.time = {}, .action = MemoryAction::kPreexisting, .category = MemoryCategory::kParameter, .bytes = 100});
  timeline.rows.push_back({.time = {5'000}, .category = MemoryCategory::kInput, .bytes = 10});
  timeline.rows.push_back({.time = {5'900},
                           .action = MemoryAction::kIncrementVersion,
                           .category = MemoryCategory::kInput,
                           .next_category = MemoryCategory::kActivation,
                           .bytes = 10});
  timeline.rows.push_back(
      {.time = {7'000}, .action = MemoryAction::kDestroy, .category = MemoryCategory::kActivation, .bytes = 10});
  timeline.rows.push_back({.time = {8'000}, .device_type = 1, .device = 0, .bytes = 1});
  const MemoryByCategory sums = SumByCategory(timeline, {}, 1'000'000);
  EXPECT_EQ(sums.times_us, (std::vector<int64_t>{1005, 1005, 1007}));
  ASSERT_EQ(sums.bytes.size(), 3u);
  EXPECT_EQ(sums.bytes[1], (std::array<int64_t, 8>{100, 0, 0, 0, 10, 0, 0, 0}));
  EXPECT_EQ(sums.bytes[2], (std::array<int64_t, 8>{100, 0, 0, 0, 0, 0, 0, 0}));
}

// Python: int(1800000000000000875 / 1000) == 1800000000000001.
TEST(MemoryByCategory, RoundsTimesSince1970AsPythonsDivisionDoes) {
  MemoryTimeline timeline;
  for (const int64_t time : {0, 874, 875, 1'500})
    timeline.rows.push_back({.time = {time}, .category = MemoryCategory::kInput, .bytes = 1});
  const MemoryByCategory sums = SumByCategory(timeline, {}, 1'800'000'000'000'000'000);
  EXPECT_EQ(sums.times_us, (std::vector<int64_t>{1'800'000'000'000'000, 1'800'000'000'000'001}));
  EXPECT_EQ(sums.bytes.at(1)[static_cast<size_t>(MemoryCategory::kInput)], 4);
}

TEST(MemoryTimeline, SizesOfATensorBeyondSixtyThreeBitsSaturate) {
  Program program;
  static constexpr int64_t kSizes[] = {int64_t{1} << 62}, kStrides[] = {1};
  ArgumentRow tensor = program.Tensor();
  tensor.sizes = kSizes, tensor.strides = kStrides;
  program.Call("read", {tensor}, {1});
  const MemoryTimeline timeline = program.Timeline();
  ASSERT_EQ(timeline.rows.size(), 1u);
  EXPECT_EQ(timeline.rows[0].bytes, INT64_MAX);
}

TEST(MemoryTimeline, SumsByCategorySaturate) {
  MemoryTimeline timeline;
  for (const MemoryAction action : {MemoryAction::kCreate, MemoryAction::kCreate, MemoryAction::kIncrementVersion}) {
    timeline.rows.push_back({.time = {1'000},
                             .action = action,
                             .category = MemoryCategory::kInput,
                             .next_category = MemoryCategory::kActivation,
                             .bytes = INT64_MAX});
  }
  MemoryByCategory sums = SumByCategory(timeline, {}, 0);
  ASSERT_EQ(sums.bytes.size(), 1u);
  EXPECT_EQ(sums.bytes[0][static_cast<size_t>(MemoryCategory::kInput)], 0);
  EXPECT_EQ(sums.bytes[0][static_cast<size_t>(MemoryCategory::kActivation)], INT64_MAX);
  timeline.rows.pop_back();
  sums = SumByCategory(timeline, {}, 0);
  EXPECT_EQ(sums.bytes[0][static_cast<size_t>(MemoryCategory::kInput)], INT64_MAX);
}

}  // namespace
}  // namespace opscope
