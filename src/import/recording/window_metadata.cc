// Sources add JSON members to the metadata of their window: facts of the program ("opscope.*" keys of
// opscope/window_facts.h), counts of events that they could not record, and members given by the user. Some are read
// first, because the import of threads depends on them. Counts become problems, routes become options, and everything
// else becomes metadata of the Trace.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/window_metadata.h"

#include <charconv>
#include <string>

#include "base/json_object.h"
#include "base/text.h"
#include "import/recording/device_problems.h"
#include "import/recording/overheads.h"
#include "opscope/window_facts.h"

namespace opscope {
namespace {

// A count from the metadata; 0 if it is not a number.
uint64_t CountOf(std::string_view json) {
  uint64_t count = 0;
  std::from_chars(json.data(), json.data() + json.size(), count);
  return count;
}

// "[ticks,allocated,reserved,peak,peak]". False: malformed.
bool ReadNumbers(std::string_view json, int64_t (&numbers)[5]) {
  const char* at = json.data();
  const char* const end = at + json.size();
  for (int64_t& number : numbers) {
    if (at == end) return false;
    const auto [next, error] = std::from_chars(at + 1, end, number);
    if (error != std::errc()) return false;
    at = next;
  }
  return true;
}

// "NAME SIGNATURE...;NAME ..." between quotes; names and signatures do not contain these separators.
void AddOperators(std::string_view json, TraceBuilder* builder) {
  if (json.size() < 2 || json.front() != '"') return;
  std::string_view left = json.substr(1, json.size() - 2);
  while (!left.empty()) {
    std::string_view one = TakeUntil(';', &left);
    const StringId name = builder->Intern(TakeUntil(' ', &one));
    while (!one.empty())
      builder->AddOperator(name, builder->Intern(TakeUntil(' ', &one)));
  }
}

// Adds a member to the text of an object.
void AddOption(std::string_view key, std::string_view json, std::string* object) {
  object->pop_back();
  JsonMemberWriter(object).Json(key, json);
  *object += '}';
}

// Metadata that count events which a source could not record.
std::string_view ProblemOfSource(std::string_view key) {
  if (key == kSourceFailuresKey) return "source_failure";
  if (key == kCallsUnseenKey) return "calls_unseen";
  if (key == kIdleThreadsKey) return "idle_threads";
  if (key == kPartsLeftOutKey) return "part_left_out";
  return {};
}

}  // namespace

void ReadTorchFacts(const std::vector<WindowInfo>& windows, TorchLinks* links) {
  uint64_t first_id = 0;
  for (const WindowInfo& window : windows) {
    for (const auto& [key, json] : window.metadata) {
      if (key == kFirstEventIdKey && first_id == 0) first_id = CountOf(json);
      if (key == kForwardBackwardKey && json == "false") links->LeaveUnlinked();
    }
  }
  if (first_id > 0 && first_id <= UINT32_MAX) links->set_first_id(static_cast<uint32_t>(first_id));
}

void ReadProcessFacts(const WindowInfo& window, const TickClock& clock, RecordingTables* tables) {
  for (const auto& [key, json] : window.metadata) {
    if (key == kGraphNodesKey) tables->NameGraphNodes(json);
    int64_t numbers[5] = {};
    if (key != kHostMemoryKey || !ReadNumbers(json, numbers)) continue;
    tables->AddHostMemory({.time = clock.At(static_cast<uint64_t>(numbers[0])),
                           .pid = window.process,
                           .allocated = numbers[1],
                           .reserved = numbers[2],
                           .peak_allocated = numbers[3],
                           .peak_reserved = numbers[4]});
  }
}

bool AnyWindowSays(const std::vector<WindowInfo>& windows, std::string_view key) {
  return std::any_of(windows.begin(), windows.end(), [&](const WindowInfo& window) {
    return std::any_of(window.metadata.begin(), window.metadata.end(),
                       [&](const auto& row) { return row.first == key && CountOf(row.second) == 1; });
  });
}

void AddWindowFacts(const std::vector<WindowInfo>& windows, TraceBuilder* builder) {
  for (const WindowInfo& window : windows) {
    if (window.is_live) {
      builder->AddProblem("recording_not_ended", -1, 1,
                          "process " + std::to_string(window.process) + " (" + window.process_name + ")");
    }
    if (!window.record_to_failure.empty()) builder->AddProblem("record_to_failed", -1, 1, window.record_to_failure);
    if (window.options_json != "{}") builder->info().options_json = window.options_json;
    for (const auto& [key, json] : window.metadata) {
      if (key == kFirstEventIdKey || key == kForwardBackwardKey || key == kAdjustStepsKey) continue;  // read elsewhere
      if (key == kOthersRanKey || key == kHostMemoryKey || key == kPaddleDevicesKey || key == kGraphNodesKey) continue;
      if (const std::string_view kind = ProblemOfSource(key); !kind.empty()) {
        if (const uint64_t count = CountOf(json); count > 0) builder->AddProblem(kind, -1, count);
      } else if (key == kDeviceProblemsKey) {
        AddDeviceProblems(json, builder);
      } else if (key == kCallStacksKey) {
        if (CountOf(json) == 1) builder->FillStacksFromCalls();
      } else if (key == kOperatorsKey) {
        AddOperators(json, builder);
      } else if (key == kTorchCaptureModeKey) {
        AddOption("torch_route", json, &builder->info().options_json);
      } else if (key == kPaddleCaptureModeKey) {
        AddOption("paddle_route", json, &builder->info().options_json);
      } else {
        builder->AddMetadata(key, json);
      }
    }
  }
  AddMachine(windows, builder);
  builder->info().overheads = ParseOverheads(builder->info().options_json);
}

}  // namespace opscope
