// Writes requests and reads answers. The members of an answer say of which kind it is:
//
//   {"version":1,"rank":3,"host":"node1","pid":4711,"framework":"torch","last_step":70,"step_ns":9000000,
//    "state":"ready","why_not":""}
//   {"version":1,"request":"0123456789abcdef","status":"complete","file":"rank3-a0-node1-4711-1.opscope","why_not":""}
//   {"version":1,"error":"8 clients are connected"}
//
// simdjson accepts an object with a duplicate member and finds the first one; two readers could then disagree about
// what a message says. So the members are walked over and counted here.
// SPDX-License-Identifier: Apache-2.0
#include "control/control_message.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <climits>
#include <optional>

#include "base/json_object.h"

namespace opscope {
namespace {

constexpr int64_t kControlVersion = 1;
constexpr int64_t kMaxStepNumber = int64_t{1} << 53;

// The members that answers have; the numbers of the last four are read, those of the others are texts.
enum Member : unsigned {
  kRequest,
  kHost,
  kFramework,
  kState,
  kStatus,
  kFile,
  kWhyNot,
  kError,
  kVersion,
  kRank,
  kPid,
  kLastStep,
  kStepNs,
  kMembers
};
constexpr std::array<std::string_view, kMembers> kMemberNames = {
    "request", "host",    "framework", "state", "status",    "file",   "why_not",
    "error",   "version", "rank",      "pid",   "last_step", "step_ns"};
constexpr unsigned kFirstNumber = kVersion;

constexpr unsigned Mask(std::initializer_list<Member> members) {
  unsigned mask = 0;
  for (const Member member : members)
    mask |= 1U << member;
  return mask;
}
constexpr unsigned kStatusMembers =
    Mask({kVersion, kRank, kHost, kPid, kFramework, kLastStep, kStepNs, kState, kWhyNot});
constexpr unsigned kWindowMembers = Mask({kVersion, kRequest, kStatus, kFile, kWhyNot});
constexpr unsigned kErrorMembers = Mask({kVersion, kError});

struct Members {
  unsigned seen = 0;
  std::array<std::string, kFirstNumber> texts;
  std::array<int64_t, kMembers> numbers{};
};

Error BadAnswer(const char* what) {
  return {ErrorCode::kMalformed, std::string("its answer cannot be read: ") + what};
}

Result<Members> ReadMembers(std::string_view line) {
  if (line.size() > kMaxControlMessage) return BadAnswer("too long");
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(line.data(), line.size()).get(object) != simdjson::SUCCESS) return BadAnswer("not a JSON object");
  Members members;
  for (const simdjson::dom::key_value_pair field : object) {
    const auto found = std::find(kMemberNames.begin(), kMemberNames.end(), field.key);
    const auto member = static_cast<unsigned>(found - kMemberNames.begin());
    if (member == kMembers) return BadAnswer("unknown member");
    if ((members.seen & 1U << member) != 0) return BadAnswer("duplicate member");
    members.seen |= 1U << member;
    std::string_view text;
    const bool is_read = member >= kFirstNumber ? field.value.get(members.numbers[member]) == simdjson::SUCCESS
                                                : field.value.get(text) == simdjson::SUCCESS;
    if (!is_read) return BadAnswer("member of the wrong type");
    if (member < kFirstNumber) members.texts[member] = text;
  }
  return members;
}

bool IsBetween(int64_t value, int64_t least, int64_t most) {
  return least <= value && value <= most;
}

bool IsRequestNumber(std::string_view text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// A name that a job gives to a file: nothing that leads out of the folder.
bool IsFileName(std::string_view name) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return name.starts_with("rank") && name.ends_with(".opscope") && name.size() <= 255 &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

std::optional<ControlState> StateNamed(std::string_view name) {
  if (name == "ready") return ControlState::kReady;
  if (name == "recording") return ControlState::kRecording;
  if (name == "unavailable") return ControlState::kUnavailable;
  return std::nullopt;
}

Result<ControlAnswer> ReadStatus(const Members& members) {
  const std::optional<ControlState> state = StateNamed(members.texts[kState]);
  if (!state || !IsBetween(members.numbers[kRank], -1, INT32_MAX) || !IsBetween(members.numbers[kPid], 1, INT32_MAX) ||
      !IsBetween(members.numbers[kLastStep], 0, kMaxStepNumber) ||
      !IsBetween(members.numbers[kStepNs], 0, INT64_MAX / 1024))
    return BadAnswer("number out of range, or unknown state");
  ControlAnswer answer;
  answer.kind = ControlAnswer::Kind::kStatus;
  answer.process = {.pid = members.numbers[kPid],
                    .host = members.texts[kHost],
                    .rank = static_cast<int32_t>(members.numbers[kRank]),
                    .framework = members.texts[kFramework],
                    .last_step = members.numbers[kLastStep],
                    .step_ns = members.numbers[kStepNs],
                    .state = *state,
                    .why_not = members.texts[kWhyNot]};
  return answer;
}

Result<ControlAnswer> ReadWindow(const Members& members) {
  ControlAnswer answer;
  answer.kind = ControlAnswer::Kind::kWindow;
  const std::string& status = members.texts[kStatus];
  answer.file = members.texts[kFile];
  answer.why_not = members.texts[kWhyNot];
  if (!answer.file.empty() && !IsFileName(answer.file)) return BadAnswer("invalid file name");
  if (status == "waiting") {
    answer.kind = ControlAnswer::Kind::kWaiting;
  } else if (status == "complete") {
    if (answer.file.empty()) return BadAnswer("missing file name");
    answer.status = WindowStatus::kComplete;
  } else if (status == "late") {
    answer.status = WindowStatus::kLate;
  } else if (status != "failed") {
    return BadAnswer("unknown status");
  }
  return answer;
}

}  // namespace

std::string StatusMessage() {
  return "{\"version\":1,\"command\":\"status\"}\n";
}

std::string RecordMessage(const ControlWindow& window) {
  std::string message;
  JsonObject object(&message);
  object.Int("version", kControlVersion).Text("command", "record").Text("request", window.request);
  object.Int("first_step", window.first_step).Int("steps", window.steps);
  object.Close();
  return message + "\n";
}

std::string StatusFile(const std::string& request, const std::string& host) {
  std::string message;
  JsonObject object(&message);
  object.Int("version", kControlVersion).Text("command", "status").Text("request", request).Text("host", host);
  object.Close();
  return message + "\n";
}

std::string RecordFile(const ControlWindow& window, const std::string& host,
                       const std::vector<std::pair<int32_t, int32_t>>& ranks) {
  std::string pairs = "[";
  for (const auto& [first, last] : ranks) {
    pairs.append(pairs.size() == 1 ? "[" : ",[").append(std::to_string(first));
    pairs.append(",").append(std::to_string(last)).append("]");
  }
  std::string message;
  JsonObject object(&message);
  object.Int("version", kControlVersion).Text("command", "record").Text("request", window.request);
  object.Int("first_step", window.first_step).Int("steps", window.steps).Text("host", host);
  object.Json("ranks", pairs + "]");
  object.Close();
  return message + "\n";
}

Result<ControlAnswer> ReadAnswer(std::string_view line) {
  const Result<Members> read = ReadMembers(line);
  if (!read.ok()) return read.error();
  const Members& members = read.value();
  if (members.numbers[kVersion] != kControlVersion) return BadAnswer("unsupported version");
  if (members.seen == kErrorMembers) {
    ControlAnswer refused;
    refused.why_not = members.texts[kError];
    return refused;
  }
  const bool has_request = (members.seen & 1U << kRequest) != 0;
  if (has_request && !IsRequestNumber(members.texts[kRequest])) return BadAnswer("invalid request number");
  const bool is_window = members.seen == kWindowMembers;
  if (!is_window && (members.seen & ~(1U << kRequest)) != kStatusMembers)
    return BadAnswer("missing or unexpected members");
  Result<ControlAnswer> answer = is_window ? ReadWindow(members) : ReadStatus(members);
  if (answer.ok()) answer.value().request = members.texts[kRequest];
  return answer;
}

}  // namespace opscope
