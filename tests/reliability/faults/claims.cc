// Checks of one trial's outcome. An error must name what failed and carry the errno that was injected; after an error
// the old file must be intact, otherwise the new one must be readable; no temporary file may remain; and recorded +
// dropped events must be exactly the issued ones.
// SPDX-License-Identifier: Apache-2.0
#include "claims.h"

#include <fstream>
#include <sstream>

#include "jobs.h"
#include "opscope/import.h"

namespace faults {

using opscope::Error;
using opscope::ErrorCode;
using opscope::Result;
using opscope::Status;
using opscope::Trace;

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void Put(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string FolderOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

std::string CheckError(const Trial& trial, const Error& error, std::string_view about) {
  if (!trial.failed()) return "an error without a fault: " + error.message;
  if (trial.is_harmless()) return "an interruption was taken for a refusal: " + error.message;
  if (error.code == ErrorCode::kIo && error.system_errno != trial.number())
    return "the error does not keep the system's reason: " + error.message;
  const bool is_known = error.code == ErrorCode::kOutOfMemory || error.code == ErrorCode::kIo ||
                        error.code == ErrorCode::kNotFound || error.code == ErrorCode::kUnsupported;
  if (!is_known) return "error of a wrong kind: " + error.message;
  // An out-of-memory error may be a constant text without a name.
  if (error.message.find(about) == std::string::npos && error.code != ErrorCode::kOutOfMemory)
    return "the error does not name what failed: " + error.message;
  return error.message.empty() ? "an error without a word" : "";
}

uint64_t EventsOf(const Trace& trace) {
  return trace.spans().size() + trace.counters().size() + trace.instants().size();
}

std::string CheckFile(const Trial& trial, const Status& status, const std::string& path) {
  for (const std::string& name : NamesIn(FolderOf(path))) {
    if (name.find(".tmp") != std::string::npos) return "left over: " + name;
  }
  if (!status.ok()) {
    if (ReadText(path) != kOldFile) return "an error, and the old file is gone";
    return CheckError(trial, status.error(), path);
  }
  Result<Trace> trace = opscope::ImportFile(path);
  if (!trace.ok()) return "the new file cannot be read: " + trace.error().message;
  // If all allocations failed during the recording, the file has no events but a count of dropped ones.
  if (EventsOf(trace.value()) == 0 && trace.value().info().dropped == 0) return "the new file has no events";
  return trace.value().is_partial() ? "the new file tells of losses" : "";
}

std::string CheckCounts(uint64_t recorded, uint64_t dropped, const RecordedWork& work) {
  if (!work.is_right()) return "the program came to another result";
  if (recorded + dropped == work.issued()) return "";
  return "recorded " + std::to_string(recorded) + " + dropped " + std::to_string(dropped) + " is not issued " +
         std::to_string(work.issued());
}

}  // namespace faults
