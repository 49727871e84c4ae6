// A progress bar on standard error, redrawn at most four times a second and removed at the end. It appears only after a
// delay, only on a terminal, and not with OPSCOPE_LOG=off. Output goes through write(), not stdio, so that it never
// mixes with buffered text.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/escaped_text.h"
#include "cli/terminal.h"
#include "opscope/cli.h"

namespace opscope {
namespace {

constexpr std::chrono::milliseconds kBetween(250);
constexpr size_t kCells = 20;

void Write(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

bool IsSilent() {
  const char* log = std::getenv("OPSCOPE_LOG");
  return isatty(STDERR_FILENO) == 0 || (log != nullptr && std::string_view(log) == "off");
}

// " [########............]  42 %"
std::string Bar(size_t done, size_t total) {
  const double part = std::min(static_cast<double>(done) / static_cast<double>(total), 1.0);
  const auto full = static_cast<size_t>(part * kCells);
  const std::string percent = std::to_string(static_cast<int>(part * 100));
  return " [" + std::string(full, '#') + std::string(kCells - full, '.') + "] " +
         std::string(percent.size() < 3 ? 3 - percent.size() : 0, ' ') + percent + " %";
}

// Estimated time left; empty while less than 2 % is done.
std::string TimeLeft(size_t done, size_t total, std::chrono::duration<double> elapsed) {
  if (done * 50 < total || done >= total) return {};
  const double seconds = elapsed.count() * static_cast<double>(total - done) / static_cast<double>(done);
  if (!(seconds >= 0.5)) return {};
  return seconds < 100 ? ", " + std::to_string(std::lround(seconds)) + " s left"
                       : ", " + std::to_string(std::lround(seconds / 60)) + " min left";
}

// A line that fits the terminal, since a wrapped line could not be erased. Long names lose their front.
std::string Line(const std::string& what, const std::string& rest) {
  const size_t room = std::max<size_t>(ColumnsOfTerminal(STDERR_FILENO), rest.size() + 20) - rest.size() - 10;
  const std::string name = DisplayWidth(what) <= room ? what : "..." + std::string(SuffixOfWidth(what, room - 3));
  return "\r\x1b[Kopscope: " + name + rest;
}

}  // namespace

TerminalProgress::TerminalProgress(const std::string& what, std::chrono::milliseconds quiet_at_first)
    : what_(EscapedText(what)), is_silent_(IsSilent()), begin_(Clock::now()), next_(begin_ + quiet_at_first) {
}

TerminalProgress::~TerminalProgress() {
  if (has_shown_) Write("\r\x1b[K");
}

void TerminalProgress::Show(size_t done, size_t total) {
  if (is_silent_ || (total == 0 && done == 0)) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kBetween;
  has_shown_ = true;
  Write(Line(what_, total == 0 ? ": " + std::to_string(done >> 20) + " MiB"
                               : Bar(done, total) + TimeLeft(done, total, now - begin_)));
}

}  // namespace opscope
