// Writes folded stacks: a line per path, `outermost;...;innermost VALUE`, the format of flamegraph.pl, which speedscope
// and others read too. The value is the self value, so that sums over lines are exact.
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "opscope/report/flame.h"
#include "report/flame_layout.h"
#include "report/human_units.h"

namespace opscope {
namespace {

// Replaces the characters that would end a frame or the line.
void AppendFrame(std::string_view name, std::string* out) {
  for (const char c : name)
    *out += c == ';' ? ':' : c == '\n' || c == '\r' ? ' ' : c;
}

}  // namespace

std::string FoldedStacks(const FlameTree& tree) {
  std::string text;
  FoldedStacks(tree, [&](std::string_view piece) { text.append(piece); });
  return text;
}

void FoldedStacks(const FlameTree& tree, const std::function<void(std::string_view piece)>& take) {
  constexpr size_t kPieceBytes = size_t{1} << 20;
  std::vector<uint32_t> path;
  std::string text;
  for (uint32_t i = 1; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].self <= 0) continue;
    path.clear();
    for (uint32_t at = i; at != 0; at = tree.nodes[at].parent)
      path.push_back(at);
    for (size_t k = path.size(); k-- > 0;) {
      AppendFrame(tree.nodes[path[k]].name, &text);
      text += k > 0 ? ';' : ' ';
    }
    AppendInt(&text, tree.nodes[i].self);
    text += '\n';
    if (text.size() < kPieceBytes) continue;
    take(text);
    text.clear();
  }
  if (!text.empty()) take(text);
}

std::string FlameValueText(FlameMetric metric, int64_t value) {
  switch (metric) {
    case FlameMetric::kTime:
    case FlameMetric::kDeviceTime:
      return HumanTime(value);
    case FlameMetric::kMemory:
      return HumanBytes(value);
    case FlameMetric::kFlops:
      return HumanCount(value) + " FLOPs";
    case FlameMetric::kCount:
      break;
  }
  return std::to_string(value) + (value == 1 ? " call" : " calls");
}

}  // namespace opscope
