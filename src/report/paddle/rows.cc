// The views of Paddle's summary with a row per name: operators, kernels, ranges, memory. Titles, widths, the order of
// rows and how names are cut follow Paddle, so that the text can be compared line by line.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "report/code_points.h"
#include "report/paddle/layout.h"
#include "report/paddle/table.h"

namespace opscope {
namespace {

constexpr const char* kHostTitle = "CPU Total / Avg / Max / Min / Ratio(%)";
constexpr const char* kDeviceTitle = "GPU Total / Avg / Max / Min / Ratio(%)";
constexpr const char* kNoTimes = "- / - / - / - / -";
constexpr int64_t kOperatorWidth = 52, kKernelWidth = 90;

// Stable sort, descending; ascending for the minimum. `by`: 0 total, 1 mean, 2 maximum, 3 minimum.
template <typename Item, typename ItemOf>
void SortBy(int by, PaddleTimes PaddleItem::* times, std::vector<const Item*>* rows, const ItemOf& item_of) {
  const auto value = [&](const Item* row) {
    const PaddleItem& item = item_of(*row);
    const PaddleTimes& of = item.*times;
    return by == 0   ? std::pair(of.total, 0.0)
           : by == 1 ? std::pair(int64_t{0}, PaddleMean(of, item.calls))
                     : std::pair(by == 2 ? of.most : of.least, 0.0);
  };
  std::stable_sort(rows->begin(), rows->end(),
                   [&](const Item* a, const Item* b) { return by == 3 ? value(a) < value(b) : value(a) > value(b); });
}

template <typename Item, typename ItemOf>
std::vector<const Item*> Sorted(const std::vector<Item>& items, PaddleSort sort, const ItemOf& item_of) {
  std::vector<const Item*> rows;
  rows.reserve(items.size());
  for (const Item& item : items)
    rows.push_back(&item);
  const int key = static_cast<int>(sort);
  SortBy(key % 4, key < 4 ? &PaddleItem::host : &PaddleItem::device, &rows, item_of);
  return rows;
}

// Indents a name and cuts it to the width of the column, as Paddle does.
std::string CutName(const std::string& name, int64_t indent) {
  const std::string blanks(static_cast<size_t>(indent), ' ');
  if (static_cast<int64_t>(CountCodePoints(name)) + indent <= kOperatorWidth) return blanks + name;
  return blanks + std::string(FirstCodePoints(name, kOperatorWidth - indent - 3)) + "...";
}

// Writes the rows; a row of one cell becomes a title line.
void AppendRows(const PaddleRowTexts& rows, PaddleLayout* layout) {
  for (const auto& row : rows.rows) {
    if (row.size() == 1) {
      layout->Title(row[0]);
    } else {
      layout->Row(row);
    }
  }
}

class OperatorTable {
 public:
  explicit OperatorTable(const PaddleTexts& texts) : texts_(texts), unit_(texts.options.time_unit) {}

  void Add(const std::string& thread, const std::vector<PaddleOperatorItem>& operators) {
    rows_.rows.push_back({"Thread: " + thread});
    int64_t host = 0, device = 0;
    for (const PaddleOperatorItem& row : operators) {
      host = SaturatingAdd(host, row.item.host.total);
      device = SaturatingAdd(device, row.item.device.total);
    }
    const auto item_of = [](const PaddleOperatorItem& row) -> const PaddleItem& { return row.item; };
    for (const PaddleOperatorItem* row : Sorted(operators, texts_.options.sorted_by, item_of)) {
      const PaddleItem& item = row->item;
      rows_.rows.push_back({texts_.Name(item.name), std::to_string(item.calls),
                            PaddleTimesCell(item.host, item.calls, PaddleRatio(item.host.total, host), unit_),
                            PaddleTimesCell(item.device, item.calls, PaddleRatio(item.device.total, device), unit_),
                            std::to_string(item.flops)});
      if (texts_.options.op_detail) AddDetails(*row);
    }
  }

  void AppendTo(std::string* out) const {
    std::vector<size_t> widths = {kOperatorWidth, 6, 40, 40, 10};
    rows_.Widen(1, 4, &widths);  // the last column keeps its width
    PaddleLayout layout(widths, out);
    layout.Head("Operator Summary", unit_, {"Name", "Calls", kHostTitle, kDeviceTitle, "FLOPs"});
    AppendRows(rows_, &layout);
    layout.Separator();
    layout.End();
  }

 private:
  void AddDetails(const PaddleOperatorItem& row) {
    for (const PaddleInnerItem& inner : row.inner) {
      const PaddleItem& item = inner.item;
      rows_.rows.push_back(
          {CutName(texts_.Name(item.name), 2), std::to_string(item.calls),
           PaddleTimesCell(item.host, item.calls, PaddleRatio(item.host.total, row.item.host.total), unit_),
           PaddleTimesCell(item.device, item.calls, PaddleRatio(item.device.total, row.item.device.total), unit_),
           "-"});
      AddDevices(inner.devices, item.device.total, 4);
    }
    AddDevices(row.devices, row.item.device.total, 2);
  }
  void AddDevices(const std::vector<PaddleItem>& devices, int64_t total, int64_t indent) {
    for (const PaddleItem& item : devices) {
      rows_.rows.push_back({CutName(texts_.Name(item.name), indent), std::to_string(item.calls), kNoTimes,
                            PaddleTimesCell(item.kernels, item.calls, PaddleRatio(item.kernels.total, total), unit_),
                            "-"});
    }
  }

  const PaddleTexts& texts_;
  const std::string& unit_;
  PaddleRowTexts rows_;
};

// Strips the function parameters of a C++ template: the first two groups of re.match(r'(.+?)(<.*>)(\(.*\))').
std::string_view WithoutParameters(std::string_view name) {
  const std::string_view line = name.substr(0, name.find('\n'));
  const size_t open = line.find('<', 1);
  const size_t close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos) return name;
  for (size_t at = line.rfind(">(", close); at != std::string_view::npos && at > open; at = line.rfind(">(", at - 1)) {
    if (at + 1 < close) return line.substr(0, at + 1);
  }
  return name;
}

std::vector<std::string> RangeRow(const PaddleItem& item, const PaddleTexts& texts, int64_t device_total) {
  const std::string& unit = texts.options.time_unit;
  return {texts.Name(item.name), std::to_string(item.calls),
          PaddleTimesCell(item.host, item.calls, PaddleRatio(item.host.total, texts.statistics.total_time), unit),
          PaddleTimesCell(item.device, item.calls, PaddleRatio(item.device.total, device_total), unit)};
}

int64_t DeviceTimeOfSteps(const PaddleStatistics& statistics) {
  for (const PaddlePhase& phase : statistics.phases) {
    if (phase.type == PaddleEventType::kProfileStep) return phase.item.device.total;
  }
  return 0;
}

PaddleLayout BeginRanges(const char* title, const PaddleRowTexts& rows, const PaddleTexts& texts, std::string* out) {
  std::vector<size_t> widths = {0, 6, 40, 40};  // the name column may be narrower than its title
  rows.Widen(0, widths.size(), &widths);
  PaddleLayout layout(widths, out);
  layout.Head(title, texts.options.time_unit, {"Name", "Calls", kHostTitle, kDeviceTitle});
  AppendRows(rows, &layout);
  return layout;
}

}  // namespace

void AppendPaddleOperators(const PaddleTexts& texts, std::string* out) {
  const std::vector<PaddleThreadOperators>& threads = texts.statistics.operators;
  if (threads.empty()) return;
  OperatorTable table(texts);
  if (texts.options.thread_sep) {
    for (const PaddleThreadOperators& thread : threads)
      table.Add(std::to_string(thread.thread), thread.operators);
  } else {
    table.Add("All threads merged", threads.size() == 1 ? threads[0].operators : MergePaddleOperators(threads));
  }
  table.AppendTo(out);
}

void AppendPaddleKernels(const PaddleTexts& texts, std::string* out) {
  const std::vector<PaddleItem>& kernels = texts.statistics.kernels;
  if (kernels.empty()) return;
  std::vector<const PaddleItem*> rows;
  int64_t total = 0;
  for (const PaddleItem& kernel : kernels) {
    rows.push_back(&kernel);
    total = SaturatingAdd(total, kernel.kernels.total);
  }
  const int key = static_cast<int>(texts.options.sorted_by);
  SortBy(key > 4 ? key - 4 : 0, &PaddleItem::kernels, &rows,
         [](const PaddleItem& item) -> const PaddleItem& { return item; });
  PaddleRowTexts cells;
  for (const PaddleItem* row : rows) {
    std::string name(WithoutParameters(texts.trace.text(row->name)));
    if (texts.options.is_escaped) name = std::string(WithoutParameters(texts.Name(row->name)));
    if (static_cast<int64_t>(CountCodePoints(name)) > kKernelWidth)
      name = std::string(FirstCodePoints(name, kKernelWidth - 3)) + "...";
    cells.rows.push_back(
        {std::move(name), std::to_string(row->calls),
         PaddleTimesCell(row->kernels, row->calls, PaddleRatio(row->kernels.total, total), texts.options.time_unit)});
  }
  std::vector<size_t> widths = {kKernelWidth, 6, 40};
  cells.Widen(1, widths.size(), &widths);
  PaddleLayout layout(widths, out);
  layout.Head("Kernel Summary", texts.options.time_unit, {"Name", "Calls", kDeviceTitle});
  AppendRows(cells, &layout);
  layout.Separator();
  layout.End();
}

void AppendPaddleMemoryManipulation(const PaddleTexts& texts, std::string* out) {
  const std::vector<PaddleItem>& items = texts.statistics.memory_manipulation;
  if (items.empty()) return;
  PaddleRowTexts rows;
  for (const PaddleItem& item : items)
    rows.rows.push_back(RangeRow(item, texts, DeviceTimeOfSteps(texts.statistics)));
  PaddleLayout layout = BeginRanges("Memory Manipulation Summary", rows, texts, out);
  layout.Separator();
  layout.End();
}

void AppendPaddleRanges(const PaddleTexts& texts, std::string* out) {
  const std::vector<PaddleThreadRanges>& threads = texts.statistics.ranges;
  if (threads.empty()) return;
  const int64_t device_total = DeviceTimeOfSteps(texts.statistics);
  const auto item_of = [](const PaddleItem& item) -> const PaddleItem& { return item; };
  PaddleRowTexts rows;
  const auto add = [&](const std::string& thread, const std::vector<PaddleItem>& ranges) {
    rows.rows.push_back({"Thread: " + thread});
    for (const PaddleItem* item : Sorted(ranges, texts.options.sorted_by, item_of))
      rows.rows.push_back(RangeRow(*item, texts, device_total));
  };
  if (texts.options.thread_sep) {
    for (const PaddleThreadRanges& thread : threads)
      add(std::to_string(thread.thread), thread.ranges);
  } else {
    add("All threads merged", MergePaddleRanges(threads));
  }
  BeginRanges("UserDefined Summary", rows, texts, out).End();  // Paddle writes no closing line here
}

void AppendPaddleMemory(const PaddleTexts& texts, std::string* out) {
  for (const PaddlePlaceMemory& place : texts.statistics.memory) {
    PaddleLayout layout({50, 12, 15, 15, 15, 15, 15}, out);
    layout.Title("Memory Summary - " + place.place);
    layout.Line("Peak Allocated Memory: " + std::to_string(place.peak_allocated));
    layout.Line("Peak Reserved Memory: " + std::to_string(place.peak_reserved));
    layout.Separator();
    layout.Row({"Name", "Type", "Allocation Count", "Free Count", "Allocation Size", "Free Size", "Increased Size"});
    layout.Separator();
    const auto add = [&](const char* type, const std::vector<PaddleMemoryItem>& items) {
      std::vector<const PaddleMemoryItem*> rows;
      rows.reserve(items.size());
      for (const PaddleMemoryItem& item : items)
        rows.push_back(&item);
      std::stable_sort(rows.begin(), rows.end(),
                       [](const auto* a, const auto* b) { return a->increase() > b->increase(); });
      for (const PaddleMemoryItem* row : rows) {
        layout.Row({texts.Name(row->name), type, std::to_string(row->allocations), std::to_string(row->frees),
                    std::to_string(row->allocated), std::to_string(row->freed), std::to_string(row->increase())});
      }
    };
    add("Allocated", place.allocated);
    add("Reserved", place.reserved);
    layout.End();
  }
}

}  // namespace opscope
