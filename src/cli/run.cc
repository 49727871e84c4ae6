// `opscope run -- CMD` records the Python programs that CMD consists of. This file only prepares: it creates the
// folder, puts the folder of opscope's sitecustomize first on PYTHONPATH, states the options in OPSCOPE_RUN and becomes
// CMD by exec. So CMD has the process, the streams, the signals and the exit status for itself. What records is
// python/opscope/launch, in each process that imports a framework:
//
//   OPSCOPE_RUN={"dir":"/job/opscope-run","first":2,"last":4}  PYTHONPATH=.../launch/site:/lib  python train.py
//
// With --on-demand also OPSCOPE_CONTROL=/job/opscope-run, and nothing is recorded until `opscope record` asks.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/json_object.h"
#include "base/system_error.h"
#include "cli/exit_code.h"
#include "cli/python_options.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/process_identity.h"

namespace opscope {
namespace {

constexpr int kExitNotExecutable = 126, kExitNotFound = 127;  // as of shells

struct RunOptions {
  std::string folder = "opscope-run";
  std::string steps;
  int64_t every = 0, steps_of_each = 0;
  double seconds = 0;
  bool on_demand = false;
  std::vector<std::string> command;
};

struct StepRange {
  int64_t first = 0, last = INT64_MAX;
};

// "2..4", "3", "3..", "..7"
std::optional<StepRange> ReadSteps(const std::string& text) {
  const size_t dots = text.find("..");
  const std::string begin = text.substr(0, dots), end = dots == std::string::npos ? begin : text.substr(dots + 2);
  const auto read = [](const std::string& digits, int64_t* number) {
    if (digits.empty()) return true;
    const auto found = SpanFilter::NumberOf(FilterField::kStep, digits);
    if (found) *number = *found;
    return found.has_value();
  };
  StepRange range;
  if (begin.empty() && end.empty()) return std::nullopt;
  if (!read(begin, &range.first) || !read(end, &range.last)) return std::nullopt;
  return range.first < 0 || range.last < range.first ? std::nullopt : std::optional(range);
}

// kInvalidArgument: the options cannot be combined, or --steps is no range.
Status ValidateOptions(const RunOptions& options) {
  const auto wrong = [](std::string message) { return Error{ErrorCode::kInvalidArgument, std::move(message), 0}; };
  const int ways = !options.steps.empty() + (options.every > 0 || options.steps_of_each > 0) + (options.seconds > 0);
  if (ways > 1) return wrong("--steps, --every with --for, and --seconds exclude each other");
  if ((options.every > 0) != (options.steps_of_each > 0)) return wrong("--every needs --for, and --for needs --every");
  if (options.steps_of_each > options.every) return wrong("--for takes at most as many steps as --every");
  if (!options.steps.empty() && !ReadSteps(options.steps))
    return wrong("--steps: '" + options.steps + "' is not a range; 3, 3..7, 3.. or ..7, from 0 on");
  return {};
}

// What python/opscope/launch reads.
std::string SettingsJson(const RunOptions& options, const std::string& folder, const LauncherFacts& launcher) {
  std::string json;
  JsonObject object(&json);
  object.Text("dir", folder).Text("backend", launcher.backend_folder);
  if (!options.steps.empty()) {
    const StepRange range = ReadSteps(options.steps).value_or(StepRange());
    object.Int("first", range.first);
    if (range.last != INT64_MAX) object.Int("last", range.last);
  }
  if (options.every > 0) object.Int("every", options.every).Int("for", options.steps_of_each);
  if (options.seconds > 0) object.Double("seconds", options.seconds);
  if (options.on_demand) object.Json("on_demand", "true");
  object.Close();
  return json;
}

// Creates the folder for this user alone, or takes one that is there. Returns the error, 0: it can be written.
int PrepareFolder(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(folder).parent_path();
  if (mkdir(folder.c_str(), 0700) != 0 && errno == ENOENT) {
    std::filesystem::create_directories(parent, error);
    if (error) return error.value();
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return errno;
  }
  struct stat found{};
  if (stat(folder.c_str(), &found) != 0) return errno;
  if (!S_ISDIR(found.st_mode)) return ENOTDIR;
  return access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

// The line of this process in run.jsonl, which CMD cannot write. In one write, because many processes append.
void AppendFailureRecord(const std::string& folder, const std::string& why_not) {
  const ProcessIdentity identity = FindProcessIdentity();
  std::string line;
  JsonObject object(&line);
  object.Int("pid", getpid()).Int("rank", identity.rank).Int("attempt", identity.attempt < 0 ? 0 : identity.attempt);
  object.Text("host", identity.host).Json("framework", "null").Json("files", "[]").Text("why_not", why_not);
  object.Close();
  line += '\n';
  const int file = open((folder + "/run.jsonl").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  close(file);
}

// "" if the processes of CMD will accept requests through this folder, else the reason. The rules are those of
// python/opscope/launch/control_folder.py.
std::string FindControlFolderProblem(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/')  // behind which lstat follows a link
    folder.pop_back();
  struct stat found{};
  if (lstat(folder.c_str(), &found) != 0) return std::generic_category().message(errno);
  if (S_ISLNK(found.st_mode)) return "--on-demand needs a folder that is not a symbolic link";
  if (found.st_uid != geteuid() || (found.st_mode & 077U) != 0)
    return "--on-demand needs a folder of this user alone (mode 0700)";
  return "";
}

// CMD's environment: that of this process and these variables.
void SetEnvironment(const std::string& settings, const std::string& site_folder, const std::string& requests) {
  const char* const before = std::getenv("PYTHONPATH");
  const std::string path = site_folder + (before != nullptr && *before != '\0' ? ":" + std::string(before) : "");
  // NOLINTBEGIN(concurrency-mt-unsafe): `opscope run` has one thread, and becomes CMD
  setenv("PYTHONPATH", path.c_str(), 1);
  setenv("OPSCOPE_RUN", settings.c_str(), 1);
  if (!requests.empty()) setenv("OPSCOPE_CONTROL", requests.c_str(), 1);
  // NOLINTEND(concurrency-mt-unsafe)
}

// Returns only if the command cannot be executed.
int ExecCommand(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  signal(SIGXFSZ, SIG_DFL);  // ignored by Python, and exec would hand that on
  execvp(arguments[0], arguments.data());
  const int error = errno;
  PrintError("run: " + SystemMessageFor(command[0], error));
  return error == ENOENT || error == ENOTDIR ? kExitNotFound : kExitNotExecutable;
}

int Run(const RunOptions& options, const CliHost& host) {
  if (const Status valid = ValidateOptions(options); !valid.ok()) return UsageError("run: " + valid.error().message);
  const LauncherFacts launcher = host.find_launcher ? host.find_launcher() : LauncherFacts{};
  if (launcher.site_folder.empty()) {
    PrintError("run: needs opscope's Python package: `python -m opscope run ...`");
    return kExitFailed;
  }
  if (launcher.site_folder.find(':') != std::string::npos) {
    PrintError("run: " + launcher.site_folder + ": PYTHONPATH cannot name a folder with a ':'");
    return kExitFailed;
  }
  std::error_code error;
  const std::string folder = std::filesystem::absolute(options.folder, error).lexically_normal().string();
  if (const int failure = error ? error.value() : PrepareFolder(folder); failure != 0) {
    PrintError("run: " + SystemMessageFor(options.folder, failure));
    return kExitFailed;
  }
  if (const std::string why_not = options.on_demand ? FindControlFolderProblem(folder) : ""; !why_not.empty()) {
    PrintError("run: " + options.folder + ": " + why_not);
    return kExitFailed;
  }
  if (FindInPath(options.command[0]).empty()) {
    PrintError("run: " + SystemMessageFor(options.command[0], ENOENT));
    return kExitNotFound;
  }
  if (const char option = OptionWithoutSitecustomize(options.command); option != 0) {
    AppendFailureRecord(folder,
                        std::string("python -") + option + " loads no sitecustomize, through which opscope records");
  }
  SetEnvironment(SettingsJson(options, folder, launcher), launcher.site_folder, options.on_demand ? folder : "");
  return ExecCommand(options.command);
}

}  // namespace

Verb RunVerb(const CliHost& host) {
  auto options = std::make_shared<RunOptions>();
  return {
      .names = {"run"},
      .description = "run a program and record it, without a changed line",
      .footer =
          "Exit code: that of the command; 1 the folder cannot be written, 2 wrong usage, 126 the command "
          "cannot be executed, 127 it is not found.",
      .run = [options, &host] { return Run(*options, host); },
      .options = {{.names = {"-o", "--output"},
                   .target = &options->folder,
                   .description = "the folder for the recordings, one file per process and window, and run.jsonl"},
                  {.names = {"--steps"},
                   .target = &options->steps,
                   .description = "only these steps: 3, 3..7, 3.. or ..7; a step ends when an optimizer has stepped"},
                  {.names = {"--every"},
                   .target = &options->every,
                   .description = "of each so many steps, the first ones, as --for says",
                   .least = 1},
                  {.names = {"--for"},
                   .target = &options->steps_of_each,
                   .description = "so many steps of each --every, a file for each time",
                   .least = 1},
                  {.names = {"--seconds"},
                   .target = &options->seconds,
                   .description = "only so many seconds from the import of the framework on",
                   .least = 1e-3},
                  {.names = {"--on-demand"},
                   .target = &options->on_demand,
                   .description = "record nothing but what the options above name, until `opscope record` asks"},
                  {.names = {"command"},
                   .target = &options->command,
                   .description = "the program and its arguments, behind --",
                   .is_required = true}}};
}

}  // namespace opscope
