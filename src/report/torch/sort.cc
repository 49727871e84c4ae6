// Sorts rows by any attribute that torch's FunctionEventAvg has, descending and stable, as Python's
// sorted(reverse=True) does. "cuda", "xpu" and "privateuse1" in a name mean "device", as torch still accepts.
// SPDX-License-Identifier: Apache-2.0
#include "report/torch/sort.h"

#include <algorithm>
#include <string>

namespace opscope {
namespace {

using Row = TorchTableRow;

struct Attribute {
  std::string_view name;
  bool (*comes_first)(const Row* a, const Row* b);
};

constexpr Attribute kAttributes[] = {
    {"key", [](const Row* a, const Row* b) { return a->key > b->key; }},
    {"overload_name", [](const Row* a, const Row* b) { return a->overload_name > b->overload_name; }},
    {"cpu_time", [](const Row* a, const Row* b) { return a->cpu_time > b->cpu_time; }},
    {"cpu_time_total", [](const Row* a, const Row* b) { return a->cpu_time_total > b->cpu_time_total; }},
    {"self_cpu_time_total", [](const Row* a, const Row* b) { return a->self_cpu_time_total > b->self_cpu_time_total; }},
    {"device_time", [](const Row* a, const Row* b) { return a->device_time > b->device_time; }},
    {"device_time_total", [](const Row* a, const Row* b) { return a->device_time_total > b->device_time_total; }},
    {"self_device_time_total",
     [](const Row* a, const Row* b) { return a->self_device_time_total > b->self_device_time_total; }},
    {"cpu_memory_usage", [](const Row* a, const Row* b) { return a->cpu_memory_usage > b->cpu_memory_usage; }},
    {"self_cpu_memory_usage",
     [](const Row* a, const Row* b) { return a->self_cpu_memory_usage > b->self_cpu_memory_usage; }},
    {"device_memory_usage", [](const Row* a, const Row* b) { return a->device_memory_usage > b->device_memory_usage; }},
    {"self_device_memory_usage",
     [](const Row* a, const Row* b) { return a->self_device_memory_usage > b->self_device_memory_usage; }},
    {"count", [](const Row* a, const Row* b) { return a->count > b->count; }},
    {"flops", [](const Row* a, const Row* b) { return a->flops > b->flops; }},
    {"node_id", [](const Row* a, const Row* b) { return a->node_id > b->node_id; }},
    {"is_async", [](const Row* a, const Row* b) { return a->is_async > b->is_async; }},
    {"is_legacy", [](const Row* a, const Row* b) { return a->is_legacy > b->is_legacy; }},
    {"is_user_annotation", [](const Row* a, const Row* b) { return a->is_user_annotation > b->is_user_annotation; }},
};

void ReplaceAll(std::string_view from, std::string_view to, std::string* text) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

}  // namespace

Status SortAsTorch(std::string_view sort_by, std::vector<const TorchTableRow*>* rows) {
  if (sort_by.empty()) return {};
  std::string name(sort_by);
  for (std::string_view device : {"cuda", "xpu", "privateuse1"})
    ReplaceAll(device, "device", &name);
  for (const Attribute& attribute : kAttributes) {
    if (attribute.name != name) continue;
    std::stable_sort(rows->begin(), rows->end(), attribute.comes_first);
    return {};
  }
  return Error{ErrorCode::kInvalidArgument, "'FunctionEventAvg' object has no attribute '" + name + "'"};
}

}  // namespace opscope
