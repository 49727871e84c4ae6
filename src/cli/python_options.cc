// `opscope run` records a Python through its sitecustomize, which -I, -E and -S leave out. Such a process cannot say
// why it is not recorded, so the command line is read here: "python3 -uI train.py" has the options u and I. Options end
// at the script, at -c and at -m; -W, -X and --check-hash-based-pycs have a value. What a shell or a launcher starts
// later is not seen.
// SPDX-License-Identifier: Apache-2.0
#include "cli/python_options.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace opscope {
namespace {

// "python", "python3", "pypy3.10", "python3.13t"
bool IsPython(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view prefix : {"python", "pypy"}) {
    if (name.starts_with(prefix) && name.find_first_not_of("0123456789.dt", prefix.size()) == std::string_view::npos)
      return true;
  }
  return false;
}

// Of the arguments behind the interpreter's name.
char OptionIn(const std::vector<std::string>& arguments, size_t first) {
  for (size_t i = first; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-' || argument == "--") return 0;
    if (argument == "--check-hash-based-pycs") {
      ++i;
      continue;
    }
    if (argument[1] == '-') continue;  // --help-env and the like
    for (size_t at = 1; at < argument.size(); ++at) {
      const char option = argument[at];
      if (option == 'I' || option == 'E' || option == 'S') return option;
      if (option == 'c' || option == 'm') return 0;
      if (option == 'W' || option == 'X') {
        if (at + 1 == argument.size()) ++i;  // the value is the next argument
        break;
      }
    }
  }
  return 0;
}

// The words of a script's first line behind "#!"; none if the file has no such line.
std::vector<std::string> WordsOfFirstLine(const std::string& path) {
  char bytes[256];  // the kernel reads as many
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  const ssize_t size = read(file, bytes, sizeof(bytes));
  close(file);
  std::string_view line(bytes, size > 0 ? static_cast<size_t>(size) : 0);
  if (!line.starts_with("#!")) return {};
  line = line.substr(2, line.find('\n') - 2);
  std::vector<std::string> words;
  while (!line.empty()) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const size_t end = line.find_first_of(" \t\r");
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(end == std::string_view::npos ? line.size() : end);
  }
  return words;
}

// The index of Python among the words of "env -S python3 -I train.py", or of "python3 ..."; words.size() if there is
// none.
size_t IndexOfInterpreter(const std::vector<std::string>& words) {
  size_t at = 0;
  if (!words.empty() && words[0].ends_with("/env")) {
    at = 1;
    while (at < words.size() && words[at].starts_with('-'))
      ++at;
  }
  return at < words.size() && IsPython(words[at]) ? at : words.size();
}

}  // namespace

std::string FindInPath(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "/bin:/usr/bin";
  while (true) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    std::string file = (folder.empty() ? "." : std::string(folder)) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
    if (folder.size() == folders.size()) return "";
    folders.remove_prefix(folder.size() + 1);
  }
}

char OptionWithoutSitecustomize(const std::vector<std::string>& command) {
  if (IsPython(command[0])) return OptionIn(command, 1);
  const std::vector<std::string> words = WordsOfFirstLine(FindInPath(command[0]));
  return OptionIn(words, IndexOfInterpreter(words) + 1);
}

}  // namespace opscope
