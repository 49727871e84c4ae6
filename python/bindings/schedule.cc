// `_core.Schedule` and the transition table, which front ends turn into the names of the profiler that they stand in
// for.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/schedule.h"

#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings.h"

namespace opscope::python {
namespace {

const char* StepName(TransitionStep step) {
  switch (step) {
    case TransitionStep::kPrepare:
      return "prepare";
    case TransitionStep::kStart:
      return "start";
    case TransitionStep::kStop:
      return "stop";
    case TransitionStep::kReady:
      return "ready";
    default:
      return "warn";
  }
}

// [(previous, next or None, [(step, warning or None), ...]), ...] for every pair of actions.
nb::list Transitions() {
  constexpr std::optional<Action> kNext[] = {Action::kNone, Action::kWarmup, Action::kRecord, Action::kRecordAndSave,
                                             std::nullopt};
  nb::list table;
  for (int previous = 0; previous < 4; ++previous) {
    for (const std::optional<Action>& next : kNext) {
      nb::list steps;
      for (const TransitionStep step : Transition(static_cast<Action>(previous), next)) {
        const char* warning = TransitionWarning(step);
        steps.append(nb::make_tuple(StepName(step), warning == nullptr ? nb::none() : nb::object(nb::str(warning))));
      }
      nb::object to = next ? nb::object(nb::int_(static_cast<int>(*next))) : nb::none();
      table.append(nb::make_tuple(previous, to, steps));
    }
  }
  return table;
}

}  // namespace

void BindSchedule(nb::module_& module) {
  nb::class_<Schedule>(module, "Schedule", "Which steps are skipped, warmed up and recorded.")
      .def(
          "__init__",
          [](Schedule* place, int64_t wait, int64_t warmup, int64_t active, int64_t repeat, int64_t skip_first,
             int64_t skip_first_wait) {
            new (place) Schedule{wait, warmup, active, repeat, skip_first, skip_first_wait};
          },
          nb::kw_only(), nb::arg("wait"), nb::arg("warmup"), nb::arg("active"), nb::arg("repeat"),
          nb::arg("skip_first"), nb::arg("skip_first_wait"))
      .def_prop_ro("is_valid", [](const Schedule& schedule) { return schedule.Validate().ok(); })
      .def(
          "at", [](const Schedule& schedule, int64_t step) { return static_cast<int>(schedule.At(step)); },
          nb::arg("step"), "The action's number; REQUIRES is_valid and step >= 0.");
  module.def("transitions", &Transitions);
}

}  // namespace opscope::python
