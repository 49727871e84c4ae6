// torch's number formats. As in torch, the unit is chosen before rounding, so 999.9996 us prints as "1000.000us".
// SPDX-License-Identifier: Apache-2.0
#include "report/torch/units.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/python_float.h"

namespace opscope {
namespace {

constexpr double kUsPerMs = 1000;
constexpr double kUsPerSecond = 1000 * 1000;

}  // namespace

std::string FormatTorchTime(double time_us) {
  if (time_us >= kUsPerSecond) return PythonFixed(time_us / kUsPerSecond, 3) + "s";
  if (time_us >= kUsPerMs) return PythonFixed(time_us / kUsPerMs, 3) + "ms";
  return PythonFixed(time_us, 3) + "us";
}

std::string FormatTorchTime(double time_us, std::string_view unit) {
  if (unit == "s") return PythonFixed(time_us / kUsPerSecond, 3) + "s";
  if (unit == "ms") return PythonFixed(time_us / kUsPerMs, 3) + "ms";
  if (unit == "us") return PythonFixed(time_us, 3) + "us";
  return FormatTorchTime(time_us);
}

std::string FormatTorchShare(double time_us, double total_us) {
  return total_us == 0 ? "NaN" : PythonFixed(time_us * 100.0 / total_us, 2) + "%";
}

std::string FormatTorchMemory(int64_t bytes) {
  constexpr double kKilo = 1024;
  const double size = static_cast<double>(bytes);
  const double magnitude = std::fabs(size);
  if (magnitude >= kKilo * kKilo * kKilo) return PythonFixed(size / (kKilo * kKilo * kKilo), 2) + " GB";
  if (magnitude >= kKilo * kKilo) return PythonFixed(size / (kKilo * kKilo), 2) + " MB";
  if (magnitude >= kKilo) return PythonFixed(size / kKilo, 2) + " KB";
  return std::to_string(bytes) + " B";
}

FlopsUnit FlopsUnitFor(double smallest) {
  static constexpr std::string_view kTitles[] = {"FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"};
  const double thousands = std::clamp(std::log10(smallest) / 3, 0.0, 5.0);
  return {kTitles[static_cast<size_t>(thousands)], std::pow(10, std::floor(thousands) * -3.0)};
}

std::string FormatTorchFlops(double flops, double smallest) {
  if (flops <= 0) return "--";
  const std::string text = PythonFixed(flops * FlopsUnitFor(smallest).scale, 3);
  return std::string(text.size() < 8 ? 8 - text.size() : 0, ' ') + text;
}

}  // namespace opscope
