// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "opscope/cli.h"

namespace opscope {
namespace {

constexpr std::chrono::milliseconds kBetween(500);

void Write(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

bool IsSilent() {
  const char* log = std::getenv("OPSCOPE_LOG");
  return isatty(STDERR_FILENO) == 0 || (log != nullptr && std::string_view(log) == "off");
}

// A name may hold what a terminal obeys.
std::string Printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return text;
}

}  // namespace

TerminalProgress::TerminalProgress(std::string what, std::chrono::milliseconds quiet_at_first)
    : what_(Printable(std::move(what))), is_silent_(IsSilent()), next_(Clock::now() + quiet_at_first) {
}

TerminalProgress::~TerminalProgress() {
  if (has_shown_) Write("\r\x1b[K");
}

void TerminalProgress::Show(size_t done, size_t total) {
  if (is_silent_ || total == 0) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kBetween;
  has_shown_ = true;
  Write("\r\x1b[Kopscope: " + what_ + ": " + std::to_string(done * 100 / total) + " %");
}

}  // namespace opscope
