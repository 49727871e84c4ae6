// SPDX-License-Identifier: Apache-2.0
#include "import/recording/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace opscope {
namespace {

// The recorded order turned into pre-order, by parts.
struct Order {
  std::vector<uint32_t> recorded;  // for each place, the position as recorded
  std::vector<uint16_t> depth;     // for each place
  std::vector<uint32_t> parent;    // likewise, kNoParent: none

  bool operator==(const Order&) const = default;
};

// Bit i of `cuts`: a part ends behind position i. adopts: of positions.
Order OrderByDepth(
    std::span<const uint16_t> depth, uint64_t cuts,
    const std::function<bool(size_t, size_t)>& adopts = [](size_t, size_t) { return true; }) {
  const auto count = static_cast<uint32_t>(depth.size());
  std::vector<uint32_t> begins(count), firsts;
  std::vector<TreePart> parts;
  for (uint32_t i = 0, first = 0; i < count; ++i) {
    if (i + 1 < count && (cuts >> i & 1) == 0) continue;
    TreePart& part = parts.emplace_back();
    part.depth = depth.subspan(first, i + 1 - first);
    part.begin = std::span(begins).subspan(first, i + 1 - first);
    LinkWithin(&part, [&](uint32_t parent, uint32_t child) { return adopts(first + parent, first + child); });
    firsts.push_back(first);
    first = i + 1;
  }
  JoinParts(
      parts.size(), [&](size_t part) -> TreePart& { return parts[part]; },
      [&](size_t parent_part, uint32_t parent, size_t child_part, uint32_t child) {
        return adopts(firsts[parent_part] + parent, firsts[child_part] + child);
      });
  Order order{std::vector<uint32_t>(count, UINT32_MAX), std::vector<uint16_t>(count), std::vector<uint32_t>(count)};
  for (const TreePart& part : parts) {
    ForEachBackward(part, [&](uint32_t row, uint32_t place, uint16_t ancestors, uint32_t parent) {
      EXPECT_EQ(order.recorded.at(place), UINT32_MAX) << "two records at one place";
      order.recorded[place] = part.first + row;
      order.depth[place] = ancestors;
      order.parent[place] = parent;
    });
  }
  return order;
}

// A program as its sequence of begins '(' and ends ')'. Returns the order of begins by order of ends.
struct Program {
  std::vector<uint16_t> recorded_depth;  // by end
  std::vector<uint32_t> pre_order;       // positions by end, in the order of the begins
  std::vector<uint16_t> depth;           // in the order of the begins
  std::vector<uint32_t> parent;          // likewise
};

Program Walk(const std::string& parentheses) {
  Program program;
  std::vector<uint32_t> open;  // numbers by begin
  for (const char edge : parentheses) {
    if (edge == '(') {
      program.parent.push_back(open.empty() ? kNoParent : open.back());
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
      const Order expected{program.pre_order, program.depth, program.parent};
      for (uint64_t cuts = 0; cuts < uint64_t{1} << std::max(scopes - 1, 0); ++cuts) {
        ASSERT_EQ(OrderByDepth(program.recorded_depth, cuts), expected) << parentheses << " cuts " << cuts;
      }
      ++programs;
    });
  }
  EXPECT_EQ(programs, 2056u);  // Catalan numbers of 0 to 8
}

TEST(OrderByDepth, GivesTheSameInAnyPartsForAnyDepthsAndRefusals) {
  for (uint32_t code = 0; code < 4096; ++code) {
    std::vector<uint16_t> depth;
    for (uint32_t rest = code, i = 0; i < 6; ++i, rest /= 4)
      depth.push_back(static_cast<uint16_t>(rest % 4));
    for (size_t refused = 0; refused < 7; ++refused) {
      const auto adopts = [&](size_t, size_t child) { return child != refused; };
      const Order whole = OrderByDepth(depth, 0, adopts);
      for (uint64_t cuts = 1; cuts < 32; ++cuts)
        ASSERT_EQ(OrderByDepth(depth, cuts, adopts), whole) << code << " cuts " << cuts << " refused " << refused;
    }
  }
}

TEST(OrderByDepth, LeavesARefusedRecordWhereItIs) {
  const Order order = OrderByDepth(std::vector<uint16_t>{3, 1, 0}, 0, [](size_t, size_t child) { return child != 0; });
  EXPECT_EQ(order.recorded, (std::vector<uint32_t>{0, 2, 1}));
  EXPECT_EQ(order.parent, (std::vector<uint32_t>{kNoParent, kNoParent, 1}));
}

}  // namespace
}  // namespace opscope
