// The source in a C++ program's own profile: loaded by its file, asked by names, beside native scopes.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "opscope/profiler.h"

namespace opscope {
namespace {

TEST(TorchSession, HasOperatorsAndScopesOfACppProgramInOneTrace) {
  const Result<const Source*> torch = LoadSource(OPSCOPE_TORCH_SOURCE);
  ASSERT_TRUE(torch.ok()) << torch.error().message;
  constexpr std::string_view kFlags[] = {"inputs", "overload_names"};
  Session session;
  const auto recording = session.Prepare({.sources = {UseSource(*torch.value(), kFlags).value()}}).value();
  const at::Tensor one = at::ones({2, 3});
  ASSERT_TRUE(recording->Start().ok());
  {
    OPSCOPE_SCOPE("forward");
    one.add(one);
  }
  recording->Stop();
  one.relu();
  const auto trace = recording->ReadTrace();
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const SpanColumns& spans = trace.value()->spans();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(trace.value()->text(spans.name[0]), "forward");
  EXPECT_EQ(trace.value()->text(spans.name[1]), "aten::add");
  EXPECT_EQ(spans.parent[1], SpanId{0});
  EXPECT_TRUE(trace.value()->info().overheads->FindOfFramework(SpanKind::kOperator) != nullptr);
}

}  // namespace
}  // namespace opscope
