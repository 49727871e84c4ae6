// Assembles Paddle's summary from its views, in Paddle's order and only those that the caller wants. As in the
// original, a summary without steps ends after the device view, if that is wanted.
// SPDX-License-Identifier: Apache-2.0
#include "report/paddle/table.h"

#include "base/escaped_text.h"

namespace opscope {
namespace {

constexpr std::string_view kSortNames[] = {"CPUTotal", "CPUAvg", "CPUMax", "CPUMin",
                                           "GPUTotal", "GPUAvg", "GPUMax", "GPUMin"};
constexpr std::string_view kViewNames[] = {"DeviceView", "OverView",     "ModelView",  "DistributedView",
                                           "KernelView", "OperatorView", "MemoryView", "MemoryManipulationView",
                                           "UDFView"};

}  // namespace

std::span<const std::string_view> PaddleSortNames() {
  return kSortNames;
}
std::span<const std::string_view> PaddleViewNames() {
  return kViewNames;
}

std::string PaddleTexts::Name(StringId id) const {
  const std::string_view name = trace.text(id);
  return options.is_escaped ? EscapedText(name) : std::string(name);
}

std::string FormatPaddleSummary(const Trace& trace, const PaddleStatistics& statistics,
                                const PaddleTableOptions& options) {
  const PaddleTexts texts{trace, statistics, options};
  const auto is_wanted = [&](PaddleView view) { return (options.views >> static_cast<int>(view) & 1) != 0; };
  std::string out;
  if (is_wanted(PaddleView::kDevice)) {
    AppendPaddleDevices(texts, &out);
    if (statistics.total_time == 0) return out;
  }
  if (is_wanted(PaddleView::kOverview)) AppendPaddleOverview(texts, &out);
  if (is_wanted(PaddleView::kModel)) AppendPaddleModel(texts, &out);
  if (is_wanted(PaddleView::kDistributed)) AppendPaddleDistribution(texts, &out);
  if (is_wanted(PaddleView::kOperator)) AppendPaddleOperators(texts, &out);
  if (is_wanted(PaddleView::kKernel)) AppendPaddleKernels(texts, &out);
  if (is_wanted(PaddleView::kMemoryManipulation)) AppendPaddleMemoryManipulation(texts, &out);
  if (is_wanted(PaddleView::kUserDefined)) AppendPaddleRanges(texts, &out);
  if (is_wanted(PaddleView::kMemory)) AppendPaddleMemory(texts, &out);
  return out;
}

}  // namespace opscope
