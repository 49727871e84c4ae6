// For tests: sources that write by the recorder's own functions, as a framework's does, and note their calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "opscope/recorder.h"
#include "opscope/session.h"
#include "opscope/source.h"
#include "opscope/trace.h"

namespace opscope {

// Calls of the sources of a test, in order.
inline std::vector<std::string> asked;

struct FakeSource : Source {
  std::string own_name;
  bool refuses = false;
  Window* window = nullptr;
  uint32_t flags_asked = 0;
  bool paused = false;

  explicit FakeSource(std::string chosen) : own_name(std::move(chosen)) {
    static constexpr SourceFlag kFlags[] = {{"shapes", 1}, {"memory", 4}};
    name = own_name.c_str();
    flags = kFlags;
    flag_count = 2;
    Source::start = [](const Source* self, Window* into, uint32_t asked_flags, const char** error) -> void* {
      auto* fake = static_cast<FakeSource*>(const_cast<Source*>(self));
      asked.push_back("start " + fake->own_name);
      if (fake->refuses) {
        *error = "the fake has no room";
        return nullptr;
      }
      fake->window = into;
      fake->flags_asked = asked_flags;
      opscope_window_add_metadata(into, "\"fact\":7");
      return fake;
    };
    Source::stop = [](void* session) { asked.push_back("stop " + static_cast<FakeSource*>(session)->own_name); };
  }

  // An operator of the framework.
  void Run(const char* operator_name) {
    Stream* stream = opscope_stream_attach(opscope_window_slot(window), 0);
    ASSERT_NE(stream, nullptr);
    const auto write = [&] { return ScopeEntries{InternText(stream, operator_name)}; };
    OpenScope* scope = OpenScopeOn(stream, write, RecordSource::kTorch, 0, 0);
    if (scope != nullptr) EndScope(scope, ReadTicks());
  }
};

inline std::vector<std::string> NamesOf(const Trace& trace) {
  std::vector<std::string> names;
  for (const StringId name : trace.spans().name)
    names.emplace_back(trace.text(name));
  return names;
}

inline std::vector<std::string> NamesOf(const Result<Recording::SharedTrace>& trace) {
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return trace.ok() ? NamesOf(*trace.value()) : std::vector<std::string>();
}

class SessionSources : public testing::Test {
 protected:
  void SetUp() override { asked.clear(); }
  FakeSource one{"one"}, two{"two"};
};

}  // namespace opscope
