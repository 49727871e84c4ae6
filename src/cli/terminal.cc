// Standard output and error of the commands, by write() without stdio: results may be binary and large, and an error
// message must work when memory is exhausted.
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/escaped_text.h"
#include "base/system_error.h"

namespace opscope {
namespace {

size_t WidthOfStandardOutput() {
  if (const char* columns = std::getenv("COLUMNS")) {
    const long width = std::strtol(columns, nullptr, 10);
    if (width > 0 && width < 100000) return static_cast<size_t>(width);
  }
  return ColumnsOfTerminal(STDOUT_FILENO);
}

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] != '\0';
}

}  // namespace

size_t ColumnsOfTerminal(int descriptor) {
  winsize size = {};
  constexpr size_t kUsualWidth = 80;
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualWidth;
}

Terminal DetectTerminal(bool no_color) {
  Terminal terminal;
  if (isatty(STDOUT_FILENO) == 0) return terminal;
  terminal.width = WidthOfStandardOutput();
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
    } else if (errno == EAGAIN) {  // another program has made it one that does not block
      pollfd output = {STDOUT_FILENO, POLLOUT, 0};
      poll(&output, 1, -1);
    } else if (errno != EINTR) {
      return SystemErrorFor("standard output", errno, ErrorCode::kIo);
    }
  }
  return {};
}

// Allocates nothing: the message may be that memory is exhausted.
void PrintError(std::string_view message) {
  char line[1024] = "opscope: ";
  size_t size = std::strlen(line);
  // Failures are ignored: standard error may be closed.
  const auto flush = [&] {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, size);
    size = 0;
  };
  while (!message.empty()) {
    const EscapedCharacter shown = FirstEscaped(message);
    const std::string_view text = shown.escape[0] == '\0' ? message.substr(0, shown.bytes) : shown.escape;
    if (size + text.size() + 1 > sizeof(line)) flush();
    std::memcpy(line + size, text.data(), text.size());
    size += text.size();
    message.remove_prefix(shown.bytes);
  }
  line[size++] = '\n';
  flush();
}

}  // namespace opscope
