// opscope::Profiler for C. The handle keeps the caller's options, because the callbacks of the C++ Profiler
// are closures over it. Options are checked here: an enumerator that a C program made up must not reach the
// recorder.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/profiler.h"

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "c_api/handles.h"
#include "c_api/structs.h"

using opscope::Action;
using opscope::ErrorCode;
using opscope::c_api::Fail;
using opscope::c_api::Guard;
using opscope::c_api::NullArgument;

struct opscope_profiler {
  opscope_options given;
  std::unique_ptr<opscope::Profiler> profiler;
};

namespace opscope {
namespace {

Action ActionOf(int32_t action) {
  const bool known = action >= OPSCOPE_ACTION_NONE && action <= OPSCOPE_ACTION_RECORD_AND_SAVE;
  return known ? static_cast<Action>(action) : Action::kNone;
}

// Calls on_warning with a copy of the sentence that ends with a 0 byte.
void Warn(const opscope_options& given, std::string_view sentence) {
  char text[256];
  const size_t size = sentence.size() < sizeof(text) ? sentence.size() : sizeof(text) - 1;
  std::memcpy(text, sentence.data(), size);
  text[size] = '\0';
  given.on_warning(text, given.context);
}

Options OptionsOf(opscope_profiler* handle, const opscope_schedule& schedule) {
  const opscope_options& given = handle->given;
  Options options;
  options.max_bytes = given.max_bytes;
  options.at_cap = static_cast<AtCap>(given.at_cap);
  options.threads = static_cast<NativeThreads>(given.threads);
  if (given.action_of != nullptr) {
    options.schedule = [handle](int64_t step) {
      return ActionOf(handle->given.action_of(step, handle->given.context));
    };
  } else if (given.schedule != nullptr) {
    options.schedule = Schedule{.wait = schedule.wait,
                                .warmup = schedule.warmup,
                                .active = schedule.active,
                                .repeat = schedule.repeat,
                                .skip_first = schedule.skip_first,
                                .skip_first_wait = schedule.skip_first_wait};
  }
  if (given.on_ready != nullptr) {
    options.on_ready = [handle](Profiler&) { handle->given.on_ready(handle, handle->given.context); };
  }
  if (given.on_warning != nullptr) {
    options.on_warning = [handle](std::string_view sentence) { Warn(handle->given, sentence); };
  }
  if (given.metadata_json != nullptr) options.metadata_json = given.metadata_json;
  if (given.record_to != nullptr) options.record_to = given.record_to;
  return options;
}

const char* WrongOptions(const opscope_options& given) {
  if (given.at_cap != OPSCOPE_AT_CAP_STOP && given.at_cap != OPSCOPE_AT_CAP_KEEP_NEWEST) {
    return "options: at_cap is not an OPSCOPE_AT_CAP_*";
  }
  if (given.threads < OPSCOPE_THREADS_ALL || given.threads > OPSCOPE_THREADS_NONE) {
    return "options: threads is not an OPSCOPE_THREADS_*";
  }
  if (given.schedule != nullptr && given.action_of != nullptr) return "options: both a schedule and action_of";
  return nullptr;
}

}  // namespace
}  // namespace opscope

opscope_code opscope_profiler_new(const opscope_options* options, opscope_profiler** profiler, opscope_error* error) {
  if (profiler == nullptr) return NullArgument(error);
  *profiler = nullptr;
  opscope_options given = OPSCOPE_OPTIONS_INIT;
  opscope_schedule schedule = OPSCOPE_SCHEDULE_INIT;
  if (!opscope::c_api::ReadStruct(options, &given) || !opscope::c_api::ReadStruct(given.schedule, &schedule)) {
    return opscope::c_api::UnknownMembers(error);
  }
  if (const char* wrong = opscope::WrongOptions(given)) return Fail(error, ErrorCode::kInvalidArgument, wrong);
  return Guard(error, [&] {
    auto handle = std::make_unique<opscope_profiler>();
    handle->given = given;
    handle->profiler = std::make_unique<opscope::Profiler>(opscope::OptionsOf(handle.get(), schedule));
    // Forget the pointers that were copied: the caller may free what they point to.
    handle->given.schedule = nullptr;
    handle->given.metadata_json = handle->given.record_to = nullptr;
    *profiler = handle.release();
    return OPSCOPE_OK;
  });
}

void opscope_profiler_free(opscope_profiler* profiler) {
  delete profiler;
}

opscope_code opscope_profiler_start(opscope_profiler* profiler, opscope_error* error) {
  if (profiler == nullptr) return NullArgument(error);
  return Guard(error, [&] { return opscope::c_api::Report(profiler->profiler->Start(), error); });
}

opscope_code opscope_profiler_step(opscope_profiler* profiler, opscope_error* error) {
  if (profiler == nullptr) return NullArgument(error);
  return Guard(error, [&] { return opscope::c_api::Report(profiler->profiler->Step(), error); });
}

opscope_code opscope_profiler_stop(opscope_profiler* profiler, opscope_error* error) {
  if (profiler == nullptr) return NullArgument(error);
  return Guard(error, [&] { return opscope::c_api::Report(profiler->profiler->Stop(), error); });
}

opscope_code opscope_profiler_save(const opscope_profiler* profiler, const char* path, opscope_error* error) {
  if (profiler == nullptr || path == nullptr) return NullArgument(error);
  return Guard(error, [&] { return opscope::c_api::Report(profiler->profiler->Save(path), error); });
}

opscope_code opscope_profiler_get_status(const opscope_profiler* profiler, opscope_profiler_status* status) {
  if (profiler == nullptr || status == nullptr) return OPSCOPE_INVALID_ARGUMENT;
  const opscope::Profiler& of = *profiler->profiler;
  opscope_profiler_status now = OPSCOPE_PROFILER_STATUS_INIT;
  now.state = static_cast<int32_t>(of.state());
  now.action = static_cast<int32_t>(of.action());
  now.step = of.step();
  now.recorded = of.recorded();
  now.dropped = of.dropped();
  return opscope::c_api::WriteStruct(now, status);
}

namespace opscope::c_api {

const Window* WindowOf(const opscope_profiler* profiler) {
  return profiler->profiler->window();
}

}  // namespace opscope::c_api
