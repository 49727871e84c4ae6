// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace opscope {
namespace {

size_t WidthOfTerminal() {
  if (const char* columns = std::getenv("COLUMNS")) {
    const long width = std::strtol(columns, nullptr, 10);
    if (width > 0 && width < 100000) return static_cast<size_t>(width);
  }
  winsize size = {};
  constexpr size_t kUsualWidth = 80;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualWidth;
}

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] != '\0';
}

}  // namespace

Terminal DetectTerminal(bool no_color) {
  Terminal terminal;
  if (isatty(STDOUT_FILENO) == 0) return terminal;
  terminal.width = WidthOfTerminal();
  const char* kind = std::getenv("TERM");
  terminal.color = !no_color && !IsSet("NO_COLOR") && kind != nullptr && std::strcmp(kind, "dumb") != 0;
  return terminal;
}

Status WriteStandardOutput(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      return {};
    } else if (errno != EINTR) {
      return Error{ErrorCode::kIo, std::string("standard output: ") + std::strerror(errno), errno};
    }
  }
  return {};
}

// Without allocation: what has to be said may be that memory is short.
void PrintError(std::string_view message) {
  char line[1024] = "opscope: ";
  constexpr size_t kLongestEscape = 4;
  size_t size = std::strlen(line);
  // Nothing can be done where standard error is closed.
  const auto flush = [&] {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, size);
    size = 0;
  };
  for (const char c : message) {
    if (size + kLongestEscape + 1 > sizeof(line)) flush();
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte != 0x7f) {
      line[size++] = c;
    } else {
      size += static_cast<size_t>(std::snprintf(line + size, kLongestEscape + 1, "\\x%02x", byte));
    }
  }
  line[size++] = '\n';
  flush();
}

}  // namespace opscope
