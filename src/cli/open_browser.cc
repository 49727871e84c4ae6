// Starts a browser in a new session, so that Ctrl-C in the terminal ends opscope and not the browser.
// SPDX-License-Identifier: Apache-2.0
#include "cli/open_browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

extern char** environ;

namespace opscope {
namespace {

constexpr const char* kDesktopBrowser = "xdg-open";

std::vector<std::string> BrowserCommand() {
  const char* const chosen = std::getenv("BROWSER");
  std::istringstream words(chosen == nullptr ? "" : chosen);
  std::vector<std::string> command;
  for (std::string word; words >> word;)
    command.push_back(word);
  if (command.empty()) command.emplace_back(kDesktopBrowser);
  return command;
}

// Starts it with no input, and its output thrown away: it must not mix with a page on standard output.
int Start(std::vector<std::string> command, pid_t* process) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& word : command)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  const int error = posix_spawnp(process, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

Status OpenBrowser(const std::string& address) {
  std::vector<std::string> command = BrowserCommand();
  const std::string name = command[0];
  command.push_back(address);
  pid_t process = 0;
  if (const int error = Start(std::move(command), &process); error != 0)
    return Error{ErrorCode::kIo, "cannot start the browser '" + name + "': " + std::generic_category().message(error)};
  constexpr auto kPatience = std::chrono::seconds(1);
  constexpr auto kPause = std::chrono::milliseconds(10);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    int status = 0;
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
      return Error{ErrorCode::kIo, "the browser '" + name + "' failed"};
    if (ended != 0) return {};
    std::this_thread::sleep_for(kPause);
  }
  return {};
}

std::string FileAddress(const std::string& path) {
  std::error_code no_folder;  // then the path stays relative
  const std::string absolute = std::filesystem::absolute(path, no_folder).string();
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string address = "file://";
  for (const char c : no_folder ? path : absolute) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::strchr("/-._~", c) != nullptr;
    if (is_plain) {
      address += c;
    } else {
      address += '%';
      address += kDigits[static_cast<unsigned char>(c) >> 4];
      address += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }
  return address;
}

}  // namespace opscope
