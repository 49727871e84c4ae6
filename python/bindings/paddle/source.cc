// Loads the PaddlePaddle source at run time.
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/paddle/source.h"

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/bindings/paddle/fallback_recorder.h"

namespace opscope::python {
namespace {

constexpr std::pair<std::string_view, PaddlePart> kPaddlePartNames[] = {
    {"hooks", PaddlePart::kHooks},      {"shapes", PaddlePart::kShapes}, {"attributes", PaddlePart::kAttributes},
    {"memory", PaddlePart::kMemory},    {"drain", PaddlePart::kDrain},   {"native", PaddlePart::kNative},
    {"wrappers", PaddlePart::kWrappers}};
static_assert(std::size(kPaddlePartNames) == kPaddleParts);

PaddlePart PaddlePartNamed(const std::string& name) {
  for (const auto& [known, part] : kPaddlePartNames) {
    if (known == name) return part;
  }
  throw nb::value_error(("the Paddle source has no part '" + name + "'").c_str());
}

// [(argument, [sizes of a tensor, ...]), ...]
void RecordShapes(const LoadedPaddleSource& loaded, nb::sequence arguments) {
  struct Argument {
    std::string name;
    std::vector<std::vector<int64_t>> tensors;
  };
  std::vector<Argument> read;
  for (nb::handle argument : arguments) {
    Argument& next = read.emplace_back(FromText(argument[0]), std::vector<std::vector<int64_t>>{});
    for (nb::handle sizes : argument[1]) {
      std::vector<int64_t>& tensor = next.tensors.emplace_back();
      for (nb::handle size : sizes)
        tensor.push_back(nb::cast<int64_t>(size));
    }
  }
  std::vector<PaddleTensorShape> shapes;
  for (const Argument& argument : read) {
    for (const std::vector<int64_t>& tensor : argument.tensors)
      shapes.push_back({argument.name.c_str(), tensor});
  }
  loaded.table->record_shapes(shapes);
}

}  // namespace

void BindPaddleSource(nb::module_& module) {
  nb::class_<LoadedPaddleSource, LoadedSource>(module, "PaddleSource", "The loaded PaddlePaddle source.")
      .def(
          "try_part",
          [](const LoadedPaddleSource& loaded, nb::str part) {
            const PaddlePart which = PaddlePartNamed(FromText(part));
            const char* complaint = WithoutGil([&] { return loaded.table->try_part(which); });
            return ToText(complaint != nullptr ? complaint : "");
          },
          nb::arg("part"), "Why a part does not work; '': it works. Call it in a separate process (paddle_source.h).")
      .def(
          "set_probe_result",
          [](const LoadedPaddleSource& loaded, nb::str part, nb::str result) {
            loaded.table->set_probe_result(PaddlePartNamed(FromText(part)), FromText(result).c_str());
          },
          nb::arg("part"), nb::arg("result"), "Stores the result of a probe of the part; '': it works.")
      .def_prop_ro(
          "capture_mode", [](const LoadedPaddleSource& loaded) { return ToText(loaded.table->capture_mode()); },
          "The capture mode of a recording that begins now.")
      .def(
          "set_fallback_recorder",
          [](const LoadedPaddleSource& loaded, nb::str part, nb::object fallback_recorder) {
            SetFallbackRecorder(loaded.table, PaddlePartNamed(FromText(part)), std::move(fallback_recorder));
          },
          nb::arg("part"), nb::arg("fallback_recorder"),
          "Sets the recorder of the part 'native' or 'wrappers' (fallback_recorder.h).")
      .def("record_shapes", &RecordShapes, nb::arg("arguments"),
           "Adds shapes to the innermost operator of this thread: [(name, [sizes of a tensor, ...]), ...].");
  BindLoadSource<PaddleSource>(module, "paddle", kPaddleSourceAbi);
}

void BindPaddle(nb::module_& module) {
  nb::module_ paddle = module.def_submodule("paddle", "What opscope.paddle needs of opscope's engine.");
  BindPaddleSource(paddle);
  BindPaddleRange(paddle);
  BindPaddleRecordEvent(paddle);
  BindPaddleLayerCall(paddle);
  BindPaddleNodeTrees(paddle);
  BindPaddleSummary(paddle);
}

}  // namespace opscope::python
