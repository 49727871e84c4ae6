// Prints Paddle's FLOPs report, a line per layer with latency, FLOPs and FLOPS, indented by depth. As in the original,
// units follow its own rounding ("1.5 M", "2.0 G"), and `repeat` ends the report when the first layer appears again
// often enough.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "opscope/paddle/table.h"
#include "report/paddle/layout.h"

namespace opscope {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kMaxIndent = 1000;  // Python nests no deeper; a damaged file would make the text quadratic

// str(round(value, 2)): "1.5", "2.0".
std::string Rounded(double value) {
  std::string text = PaddleFixed(value);
  if (text.ends_with('0')) text.pop_back();
  return text;
}

struct Unit {
  double size;
  std::string_view name;
};

template <size_t N>
std::string Scaled(double value, const Unit (&units)[N], std::string_view smallest, bool is_whole) {
  for (const Unit& unit : units) {
    if (value >= unit.size) return Rounded(value / unit.size).append(unit.name);
  }
  std::string text;
  if (is_whole) AppendInt(&text, static_cast<int64_t>(value));
  return (is_whole ? text : Rounded(value)).append(smallest);
}

std::string TimeText(int64_t ns) {
  constexpr Unit kUnits[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}};
  return Scaled(static_cast<double>(ns), kUnits, " ns", true);
}
std::string LargeNumber(double number, bool is_whole) {
  constexpr Unit kUnits[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " K"}};
  return Scaled(number, kUnits, "", is_whole);
}

void AppendCentred(std::string_view text, std::string* out) {
  const size_t rest = kWidth - text.size();
  out->append(rest / 2, '-').append(text).append(rest - rest / 2, '-');
}

}  // namespace

std::string FormatPaddleFlops(std::span<const PaddleLayer> layers, int64_t repeat) {
  std::string out, first;
  AppendCentred(" Flops Profiler Begin ", &out);
  out += '\n';
  int64_t repeated = 0;
  for (const PaddleLayer& layer : layers) {
    if (layer.depth == layers[0].depth && first.starts_with(layer.name) && !first.empty()) ++repeated;
    if (repeated >= repeat) break;
    const auto flops = static_cast<double>(layer.flops);
    const double rate = layer.time == 0 ? 0 : flops * 1e9 / static_cast<double>(layer.time);
    const size_t indent = layer.depth > layers[0].depth ? layer.depth - layers[0].depth : 0;
    std::string line(std::min(indent, kMaxIndent), ' ');
    line.append(layer.name).append(" latency: ").append(TimeText(layer.time)).append(", FLOPs: ");
    line.append(LargeNumber(flops, true)).append(", FLOPS: ").append(LargeNumber(rate, false)).append("\n");
    if (first.empty()) first = line;
    out += line;
  }
  out += '\n';
  AppendCentred("- Flops Profiler End -", &out);
  return out;
}

}  // namespace opscope
