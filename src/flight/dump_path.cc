// Fills placeholders in the path of a dump. "flight.opscope" becomes "flight-4242-1.opscope": without
// process and number a second dump, or another process, would overwrite the first one. Numbers whose file
// exists are skipped.
// SPDX-License-Identifier: Apache-2.0
#include "flight/dump_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <string_view>

namespace opscope {
namespace {

constexpr std::string_view kPid = "{pid}";
constexpr std::string_view kNumber = "{number}";
constexpr uint64_t kMaxNumbers = 100000;  // looked at; then the last one is replaced

void Replace(std::string* text, std::string_view what, const std::string& by) {
  for (size_t at = text->find(what); at != std::string::npos; at = text->find(what, at + by.size()))
    text->replace(at, what.size(), by);
}

size_t PlaceOfExtension(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  const size_t dot = path.rfind('.');
  return dot == std::string::npos || dot <= name ? path.size() : dot;
}

std::string WithBoth(std::string pattern) {
  std::string missing;
  if (pattern.find(kPid) == std::string::npos) missing.append("-").append(kPid);
  if (pattern.find(kNumber) == std::string::npos) missing.append("-").append(kNumber);
  return pattern.insert(PlaceOfExtension(pattern), missing);
}

}  // namespace

std::string FillDumpPath(const std::string& pattern, pid_t process, uint64_t number) {
  std::string path = pattern;
  Replace(&path, kPid, std::to_string(process));
  Replace(&path, kNumber, std::to_string(number));
  return path;
}

std::string FreeDumpPath(const std::string& pattern, pid_t process, uint64_t* number) {
  const std::string whole = WithBoth(pattern);
  std::string path;
  for (uint64_t tries = 0; tries < kMaxNumbers; ++tries, ++*number) {
    path = FillDumpPath(whole, process, *number);
    struct stat facts;
    if (lstat(path.c_str(), &facts) != 0) break;
  }
  return path;
}

std::string AbsoluteDumpPath(const std::string& pattern) {
  char folder[PATH_MAX];
  if (pattern.empty() || pattern[0] == '/' || getcwd(folder, sizeof(folder)) == nullptr) return pattern;
  return std::string(folder) + "/" + pattern;
}

}  // namespace opscope
