// SPDX-License-Identifier: Apache-2.0
#include "import/recording_tree.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace opscope {
namespace {

constexpr auto kAlways = [](size_t, size_t) { return true; };

// A program as its sequence of begins '(' and ends ')'. Returns the order of begins by order of ends.
struct Program {
  std::vector<uint16_t> recorded_depth;  // by end
  std::vector<uint32_t> pre_order;       // positions by end, in the order of the begins
  std::vector<uint16_t> depth;           // in the order of the begins
};

Program Walk(const std::string& parentheses) {
  Program program;
  std::vector<uint32_t> open;  // numbers by begin
  for (const char edge : parentheses) {
    if (edge == '(') {
      open.push_back(static_cast<uint32_t>(program.pre_order.size()));
      program.pre_order.push_back(0);
      program.depth.push_back(static_cast<uint16_t>(open.size() - 1));
    } else {
      program.pre_order[open.back()] = static_cast<uint32_t>(program.recorded_depth.size());
      program.recorded_depth.push_back(static_cast<uint16_t>(open.size() - 1));
      open.pop_back();
    }
  }
  return program;
}

void ForEachProgram(std::string prefix, int open, int left, const std::function<void(const std::string&)>& visit) {
  if (open == 0 && left == 0) return visit(prefix);
  if (left > 0) ForEachProgram(prefix + '(', open + 1, left - 1, visit);
  if (open > 0) ForEachProgram(prefix + ')', open - 1, left, visit);
}

TEST(OrderByDepth, RebuildsAllSmallPrograms) {
  size_t programs = 0;
  for (int scopes = 0; scopes <= 8; ++scopes) {
    ForEachProgram("", 0, scopes, [&](const std::string& parentheses) {
      const Program program = Walk(parentheses);
      const PreOrder order = OrderByDepth(program.recorded_depth, kAlways);
      ASSERT_EQ(std::vector<uint32_t>(order.recorded.view().begin(), order.recorded.view().end()), program.pre_order)
          << parentheses;
      ASSERT_EQ(std::vector<uint16_t>(order.depth.view().begin(), order.depth.view().end()), program.depth)
          << parentheses;
      ++programs;
    });
  }
  EXPECT_EQ(programs, 2056u);  // Catalan numbers of 0 to 8
}

TEST(OrderByDepth, GivesEveryPositionOnceForAnyDepths) {
  for (uint32_t code = 0; code < 4096; ++code) {
    std::vector<uint16_t> depth;
    for (uint32_t rest = code, i = 0; i < 6; ++i, rest /= 4)
      depth.push_back(static_cast<uint16_t>(rest % 4));
    const PreOrder order = OrderByDepth(depth, kAlways);
    std::vector<int> seen(depth.size());
    for (const uint32_t position : order.recorded.view())
      ++seen.at(position);
    ASSERT_EQ(seen, std::vector<int>(depth.size(), 1)) << code;
  }
}

TEST(OrderByDepth, LeavesARefusedRecordWhereItIs) {
  const std::vector<uint16_t> depth = {3, 1, 0};
  const PreOrder order = OrderByDepth(depth, [](size_t, size_t child) { return child != 0; });
  EXPECT_EQ(order.recorded[0], 0u);
  EXPECT_EQ(order.recorded[1], 2u);
  EXPECT_EQ(order.recorded[2], 1u);
  EXPECT_EQ(order.depth[2], 1);
}

}  // namespace
}  // namespace opscope
