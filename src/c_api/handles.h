// The handles of the C interface that several of its files use.
//
// Thread rule: a trace is constant; the rest one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "opscope/c.h"
#include "opscope/recorder.h"
#include "opscope/trace.h"

// Strings of a Trace are not terminated; the few that C gets as text are kept here with their 0 byte.
struct opscope_trace {
  explicit opscope_trace(opscope::Trace imported);

  struct ProblemTexts {
    std::string kind;
    std::string message;
  };
  opscope::Trace trace;
  std::vector<ProblemTexts> problems;
};

namespace opscope::c_api {

// The last complete recording, null: none.
const Window* WindowOf(const opscope_profiler* profiler);

// A malloc'ed copy for opscope_text_free.
opscope_code ReturnText(const std::string& text, char** out, opscope_error* error);

}  // namespace opscope::c_api
