// `_core.torch.EventTree`: the data behind `experimental_event_tree()`: parents, children and typed fields of the collected
// rows. A row is an integer here; Python creates an object for a row only when it is accessed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "opscope/torch/tensor_keys.h"
#include "python/bindings/layout_name.h"
#include "python/bindings/torch/function_events.h"

namespace opscope::python {
namespace {

constexpr uint32_t kNoRow = 0xffffffff;

class EventTree {
 public:
  explicit EventTree(const EventColumns& columns)
      : trace_(columns.shared_trace()),
        events_(columns.shared_events()),
        keys_(WithoutGil([&] { return FindTensorKeys(*trace_, &storages_); })) {}

  nb::list Roots() const {
    nb::list rows;
    for (size_t row = 0; row < events_->size(); ++row) {
      if (events_->parent[row] == EventIndex::kNone) rows.append(row);
    }
    return rows;
  }
  nb::list Children(uint32_t row) const {
    Check(row);
    nb::list rows;
    for (EventIndex child = events_->first_child[row]; child != EventIndex::kNone;
         child = events_->next_sibling[Row(child)])
      rows.append(Row(child));
    return rows;
  }
  nb::object Parent(uint32_t row) const {
    Check(row);
    const EventIndex parent = events_->parent[row];
    return parent == EventIndex::kNone ? nb::none() : nb::object(nb::int_(Row(parent)));
  }

  // Arguments of an operator: a tensor as a tuple, a list of tensors as a list of them, a number as itself, else None.
  nb::list Inputs(uint32_t row) {
    Check(row);
    nb::list inputs;
    const SpanId span = events_->span[row];
    if (span == SpanId::kNone) return inputs;
    size_t tensor = FirstTensorOf(span);
    const ArgsId args = trace_->spans().args[Row(span)];
    const nb::object values = nb::steal(ConcreteInputs(*trace_, args));
    size_t index = 0;
    for (const Argument& argument : trace_->arguments(args)) {
      const size_t place = index++;
      if (argument.kind == ArgumentKind::kTensor) {
        inputs.append(TensorOf(argument, span, tensor++));
      } else if (argument.kind == ArgumentKind::kTensorList) {
        nb::list list;
        for (const Argument& each : argument.tensors)
          list.append(TensorOf(each, span, tensor++));
        inputs.append(list);
      } else {
        inputs.append(argument.kind == ArgumentKind::kScalar ? nb::object(values[place]) : nb::none());
      }
    }
    return inputs;
  }

  // (address, bytes, total allocated, total reserved, device type, device, tensor id, storage id); None for unknown
  // fields. Sizes in bytes.
  nb::object Allocation(uint32_t row) const {
    Check(row);
    constexpr uint8_t kKinds = function_event_flags::kMemory | function_event_flags::kOutOfMemory;
    if ((events_->flags[row] & kKinds) != function_event_flags::kMemory) return nb::none();
    const uint32_t at = events_->allocation[row];
    const AllocationColumns& rows = trace_->allocations();
    const uint32_t storage = storages_.of_allocation[at];
    return nb::make_tuple(rows.address[at], rows.bytes[at], rows.total_allocated[at], rows.total_reserved[at],
                          rows.device_type[at], rows.device[at], TensorNumber(storage), StorageNumber(storage));
  }

  bool IsOutOfMemory(uint32_t row) const {
    Check(row);
    return (events_->flags[row] & function_event_flags::kOutOfMemory) != 0;
  }

  // {address of an object: (row of the call in which it was first seen or None, [(role, tensor as in Inputs, name),
  // ...])}.
  nb::dict Holders() {
    nb::dict holders;
    const ReferencedTensorColumns& held = trace_->held_tensors();
    for (size_t at = 0; at < held.size(); ++at) {
      const nb::int_ owner(held.owner[at]);
      if (!holders.contains(owner)) {
        const uint32_t call = CallAt(held.track[at], held.time[at]);
        holders[owner] = nb::make_tuple(call == kNoRow ? nb::none() : nb::object(nb::int_(call)), nb::list());
      }
      if (keys_.of_held[at] == kNoKey && held.storage[at] != 0) continue;  // seen again later: torch keeps the first
      const nb::object name =
          held.name[at] == StringId::kNone ? nb::object(nb::str("")) : ToText(trace_->text(held.name[at]));
      nb::cast<nb::list>(holders[owner][1])
          .append(nb::make_tuple(static_cast<int>(held.held_as[at]), ReferencedTensor(at), name));
    }
    return holders;
  }

 private:
  void Check(uint32_t row) const {
    if (row >= events_->size()) throw nb::index_error();
  }

  size_t FirstTensorOf(SpanId span) const {
    const auto& spans = trace_->tensors().span;
    return static_cast<size_t>(std::lower_bound(spans.begin(), spans.end(), span) - spans.begin());
  }

  nb::object TensorNumber(uint32_t storage) const {
    const uint32_t tensor = storage == kNoKey ? kNoKey : storages_.tensor[storage];
    return tensor == kNoKey ? nb::none() : nb::object(nb::int_(tensor));
  }
  static nb::object StorageNumber(uint32_t storage) {
    return storage == kNoKey ? nb::none() : nb::object(nb::int_(storage + 1));
  }

  static nb::object Address(uint64_t address) { return address == 0 ? nb::none() : nb::object(nb::int_(address)); }

  static nb::tuple Shape(const Trace& trace, const Argument& argument) {
    nb::list sizes, strides;
    for (const int64_t size : argument.sizes)
      sizes.append(size);
    for (const int64_t stride : argument.strides)
      strides.append(stride);
    return nb::make_tuple(sizes, argument.has_strides ? nb::object(strides) : nb::none(),
                          ToText(trace.text(argument.dtype)), LayoutName(argument.layout));
  }

  // ((sizes, strides, dtype, layout), number of the object, address of its data, device type,
  // device, tensor, storage)
  nb::object TensorOf(const Argument& argument, SpanId span, size_t at) const {
    const TensorColumns& tensors = trace_->tensors();
    const nb::tuple shape = Shape(*trace_, argument);
    if (at >= tensors.size() || tensors.span[at] != span) {
      return nb::make_tuple(shape, nb::none(), nb::none(), 0, -1, nb::none(), nb::none());
    }
    const uint32_t storage = storages_.of_tensor[at];
    const nb::object object = tensors.tensor[at] == 0 ? nb::none() : nb::object(nb::int_(tensors.tensor[at]));
    return nb::make_tuple(shape, object, Address(tensors.storage[at]), tensors.device_type[at], tensors.device[at],
                          TensorNumber(storage), StorageNumber(storage));
  }

  // The record of an object's tensors has no shape; it is taken from the first operator with this tensor as an
  // argument.
  nb::object ReferencedTensor(size_t at) {
    const ReferencedTensorColumns& held = trace_->held_tensors();
    const uint32_t storage = storages_.of_held[at];
    nb::object shape = nb::none();
    if (const Argument* seen = FirstUse(held.tensor[at]); seen != nullptr) shape = Shape(*trace_, *seen);
    return nb::make_tuple(shape, held.tensor[at], Address(held.storage[at]), held.device_type[at], held.device[at],
                          TensorNumber(storage), StorageNumber(storage), held.bytes[at]);
  }

  const Argument* FirstUse(uint64_t tensor) {
    if (!first_uses_) {
      first_uses_.emplace();
      const TensorColumns& tensors = trace_->tensors();
      for (size_t row = 0; row < tensors.size();) {
        const SpanId span = tensors.span[row];
        const auto see = [&](const Argument& argument) {
          if (row < tensors.size() && tensors.span[row] == span)
            first_uses_->try_emplace(tensors.tensor[row++], &argument);
        };
        const size_t before = row;
        for (const Argument& argument : trace_->arguments(trace_->spans().args[Row(span)])) {
          if (argument.kind == ArgumentKind::kTensor) see(argument);
          for (const Argument& each : argument.tensors)
            see(each);
        }
        while (row < tensors.size() && (tensors.span[row] == span || row == before))
          ++row;
      }
    }
    const auto found = first_uses_->find(tensor);
    return tensor == 0 || found == first_uses_->end() ? nullptr : found->second;
  }

  // The innermost Python call that runs on `track` at `time`; kNoRow if there is none.
  uint32_t CallAt(TrackId track, Timestamp time) const {
    const double now = static_cast<double>(time.ns - events_->trace_start.ns) / 1000;
    const auto& starts = events_->start_us;
    auto row = static_cast<uint32_t>(std::upper_bound(starts.begin(), starts.end(), now) - starts.begin());
    while (row > 0) {
      const SpanId span = events_->span[--row];
      const bool is_here = span != SpanId::kNone && trace_->spans().track[Row(span)] == track;
      const bool is_call = (events_->flags[row] & function_event_flags::kPythonFunction) != 0;
      if (is_here && is_call && events_->end_us[row] >= now) return row;
    }
    return kNoRow;
  }

  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const FunctionEvents> events_;
  TensorStorages storages_;
  TensorKeys keys_;
  std::optional<std::unordered_map<uint64_t, const Argument*>> first_uses_;  // by number of the object
};

}  // namespace

void BindEventTree(nb::module_& module) {
  nb::class_<EventTree>(module, "EventTree", "Parents, children and typed fields of rows of collected FunctionEvents.")
      .def(nb::init<const EventColumns&>(), nb::arg("columns"))
      .def("roots", &EventTree::Roots)
      .def("children", &EventTree::Children, nb::arg("row"))
      .def("parent", &EventTree::Parent, nb::arg("row"))
      .def("inputs", &EventTree::Inputs, nb::arg("row"))
      .def("allocation", &EventTree::Allocation, nb::arg("row"))
      .def("is_out_of_memory", &EventTree::IsOutOfMemory, nb::arg("row"))
      .def("holders", &EventTree::Holders);
}

}  // namespace opscope::python
