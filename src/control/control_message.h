// The messages between a command and a process that waits for requests: JSON objects on one line of at most 4096
// bytes. docs/reference/control_protocol.md lists their members; python/opscope/launch/control_message.py is the other
// side. Any process of this user may write an answer, so the parser is strict: an answer with an unknown or a double
// member, another version, a number out of range or a file name that leads out of the folder is malformed.
//
//   const std::string line = RecordMessage({.request = "0123456789abcdef", .first_step = 12, .steps = 5});
//   const Result<ControlAnswer> answer = ReadAnswer(received);
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/control.h"
#include "opscope/result.h"

namespace opscope {

inline constexpr size_t kMaxControlMessage = 4096;  // bytes, with the end of the line

// A requested window.
struct ControlWindow {
  std::string request;  // 16 hexadecimal digits
  int64_t first_step = 0;
  int64_t steps = 1;
};

// Messages for sockets, with the end of the line.
[[nodiscard]] std::string StatusMessage();
[[nodiscard]] std::string RecordMessage(const ControlWindow& window);
// Messages for request.json, which the processes of `host` ignore. `ranks`: pairs (first, last).
[[nodiscard]] std::string StatusFile(const std::string& request, const std::string& host);
[[nodiscard]] std::string RecordFile(const ControlWindow& window, const std::string& host,
                                     const std::vector<std::pair<int32_t, int32_t>>& ranks);

// An answer of any kind.
struct ControlAnswer {
  enum class Kind : uint8_t {
    kStatus,   // `process` is set
    kWaiting,  // the window waits for its first step, or is recorded
    kWindow,   // the window has ended: `status`, `file` and `why_not` are set
    kRefused,  // `why_not` has the reason
  };
  Kind kind = Kind::kRefused;
  std::string request;  // "": the answer has none
  ControlProcess process;
  WindowStatus status = WindowStatus::kFailed;
  std::string file;  // name in the folder; "": none
  std::string why_not;
};

// `line` with or without its end. kMalformed: not an answer; the message does not quote the line.
[[nodiscard]] Result<ControlAnswer> ReadAnswer(std::string_view line);

}  // namespace opscope
