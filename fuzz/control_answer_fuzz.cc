// Any bytes through the reader of answers of running processes: it gives an answer whose parts are within their bounds,
// or an error that quotes nothing, and the same with the end of the line.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>

#include "control/control_message.h"
#include "opscope/result.h"

namespace {

using namespace opscope;

std::string ToDebugText(const Result<ControlAnswer>& read) {
  if (!read.ok()) return read.error().message;
  const ControlAnswer& answer = read.value();
  return std::to_string(static_cast<int>(answer.kind)) + answer.request + answer.file + answer.why_not +
         answer.process.host + answer.process.framework + std::to_string(answer.process.last_step);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<ControlAnswer> read = ReadAnswer(bytes);
  if (size < kMaxControlMessage) OPSCOPE_CHECK(ToDebugText(ReadAnswer(std::string(bytes) + "\n")) == ToDebugText(read));
  if (!read.ok()) return 0;
  const ControlAnswer& answer = read.value();
  OPSCOPE_CHECK(size <= kMaxControlMessage);
  OPSCOPE_CHECK(answer.file.find('/') == std::string::npos && !answer.file.starts_with('.'));
  OPSCOPE_CHECK(answer.request.empty() || answer.request.size() == 16);
  if (answer.kind == ControlAnswer::Kind::kStatus)
    OPSCOPE_CHECK(answer.process.rank >= -1 && answer.process.last_step >= 0 && answer.process.step_ns >= 0);
  if (answer.kind == ControlAnswer::Kind::kWindow && answer.status == WindowStatus::kComplete)
    OPSCOPE_CHECK(!answer.file.empty());
  return 0;
}
