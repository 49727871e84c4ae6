// Paths of record_to. A path from the environment always carries the process id: child programs inherit the
// variable, and two processes must not write one file. A path from the program carries it only in a forked
// child.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/record_to.h"

#include <stdlib.h>
#include <unistd.h>

#include <atomic>

#include "base/system_error.h"

namespace opscope {
namespace {

const pid_t first_process = getpid();
constinit std::atomic<int64_t> from_environment{0};  // recordings that the environment gave a file

// x.opscope -> x.PID.N.opscope
std::string Numbered(std::string path, bool with_process, int64_t n) {
  std::string inserted;
  if (with_process) inserted.append(".").append(std::to_string(getpid()));
  if (n > 1) inserted.append(".").append(std::to_string(n));
  const size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  const size_t dot = path.rfind('.');
  const bool has_extension = dot != std::string::npos && dot > name;
  return path.insert(has_extension ? dot : path.size(), inserted);
}

}  // namespace

std::string RecordingPath(std::string_view record_to, int64_t n) {
  if (!record_to.empty()) return Numbered(std::string(record_to), getpid() != first_process, n);
  const char* shared_path = secure_getenv("OPSCOPE_RECORD_TO");
  if (shared_path == nullptr || *shared_path == '\0') return {};
  return Numbered(shared_path, true, ++from_environment);
}

std::string FileWarning(std::string_view path, const WindowFile& file) {
  std::string sentence = "record_to: ";
  sentence.append(SystemMessageFor(path, file.error));
  if (file.step != nullptr) sentence.append(" (").append(file.step).append(")");
  sentence.append(file.bytes == 0 ? "; the recording is kept in memory" : "; the rest of the recording is in memory");
  return sentence;
}

}  // namespace opscope
