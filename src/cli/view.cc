// `opscope view`: serves the page of a trace, or of many, to a browser on this machine.
//
// The address has a secret in it. It is printed once, on standard output, and given to a browser by a private file that
// leads to it: the arguments of a process can be read by every user of the machine.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/view.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/assign.h"
#include "base/descriptor.h"
#include "base/system_error.h"
#include "base/temporary_names.h"
#include "cli/exit_code.h"
#include "cli/job_input.h"
#include "cli/open_browser.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/export/html.h"

namespace opscope {
namespace {

struct ViewVerbOptions {
  CommonOptions common;
  int64_t port = 0;
  int64_t idle_s = ViewOptions().idle_s;
  bool open = false;
};

ViewServer* served = nullptr;  // for the handler

// While it lives, SIGINT and SIGTERM end the server; a second one ends the process as it would without a handler.
// Signals that the caller ignores stay ignored.
class ScopedServerSignals {
 public:
  explicit ScopedServerSignals(ViewServer* server) {
    served = server;
    for (const int number : {SIGINT, SIGTERM}) {
      struct sigaction ours{};
      struct sigaction* const before = number == SIGINT ? &interrupt_ : &terminate_;
      ours.sa_handler = [](int) { served->End(); };
      ours.sa_flags = static_cast<int>(SA_RESETHAND);
      sigaction(number, nullptr, before);
      if (before->sa_handler != SIG_IGN) sigaction(number, &ours, nullptr);
    }
  }
  ~ScopedServerSignals() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
    served = nullptr;
  }
  ScopedServerSignals(const ScopedServerSignals&) = delete;
  ScopedServerSignals& operator=(const ScopedServerSignals&) = delete;

 private:
  struct sigaction interrupt_{}, terminate_{};
};

// A file for this user alone that leads a browser to the address. The destructor deletes it, and a signal that ends the
// command does, too.
class RedirectFile {
 public:
  static Result<std::unique_ptr<RedirectFile>> Create(const std::string& address) {
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    const char* const chosen = runtime != nullptr && *runtime == '/' ? runtime : std::getenv("TMPDIR");
    std::unique_ptr<RedirectFile> file(new RedirectFile);
    file->path_ = std::string(chosen != nullptr && *chosen == '/' ? chosen : "/tmp") + "/opscope-view-XXXXXX.html";
    const int descriptor = MoveAboveStderr(mkostemps(file->path_.data(), 5, O_CLOEXEC));  // O_EXCL, mode 0600
    if (descriptor < 0) return Fail(file->path_, errno);
    file->exists_ = true;
    file->registered_at_ = RegisterTemporary(file->path_.c_str());
    const std::string text =
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
        "<meta http-equiv=\"refresh\" content=\"0;url=" +
        address +
        "\"><title>opscope</title>"
        "<a href=\"" +
        address + "\">opscope</a>\n";
    const ssize_t written = write(descriptor, text.data(), text.size());
    const int write_error = written < 0 ? errno : written < static_cast<ssize_t>(text.size()) ? ENOSPC : 0;
    const int close_error = close(descriptor) != 0 ? errno : 0;
    if (const int error = write_error != 0 ? write_error : close_error; error != 0) return Fail(file->path_, error);
    return file;
  }
  ~RedirectFile() {
    if (exists_) unlink(path_.c_str());
    if (registered_at_ >= 0) UnregisterTemporary(registered_at_);
  }
  RedirectFile(const RedirectFile&) = delete;
  RedirectFile& operator=(const RedirectFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  RedirectFile() = default;
  static Error Fail(const std::string& path, int error) { return SystemErrorFor(path, error, ErrorCode::kIo); }

  std::string path_;
  bool exists_ = false;
  int registered_at_ = -1;
};

// A bar per file, while it is read before the server listens.
class OpeningProgress {
 public:
  void Show(const std::string& file, uint64_t read, uint64_t total) {
    if (is_over_) return;
    if (!bar_ || file != file_) bar_.emplace(file_ = file);
    bar_->Show(read, total);
  }
  void End() {
    is_over_ = true;
    bar_.reset();
  }

 private:
  bool is_over_ = false;
  std::string file_;
  std::optional<TerminalProgress> bar_;
};

int Serve(ViewServer* server, bool open) {
  const ScopedServerSignals signals(server);
  if (const Status printed = WriteStandardOutput(server->address() + "\n"); !printed.ok()) return ExitFor(printed);
  std::unique_ptr<RedirectFile> redirect;
  if (open) {
    Result<std::unique_ptr<RedirectFile>> created = RedirectFile::Create(server->address());
    Status opened = created.ok() ? Status() : Status(created.error());
    if (created.ok()) {
      redirect = std::move(created).value();
      opened = OpenBrowser(FileAddress(redirect->path()));
    }
    if (!opened.ok()) PrintError(opened.error().message);  // the address is printed all the same
  }
  if (server->Run()) return kExitDone;
  // A file that takes minutes is being read, or an answer computed: the end does not wait for it.
  redirect.reset();
  std::fflush(nullptr);
  _exit(kExitDone);
}

// The answers over the JOBs that are served, by the names of their folders.
class ServedJobs {
 public:
  ServedJobs(CommonOptions common, const CliHost* host) : common_(std::move(common)), host_(*host) {}

  Result<Trace> Open(const std::string& folder) {
    OPSCOPE_ASSIGN(JobInput input, OpenJobInput(folder, common_, {}, host_));
    ReportJobInput(input, folder, common_);
    const std::lock_guard lock(mutex_);
    overviews_[folder] = input.overview;
    return std::move(input.trace);
  }
  // nullptr: there are none.
  std::shared_ptr<const JobOverview> Of(const std::string& folder) {
    const std::lock_guard lock(mutex_);
    const auto found = overviews_.find(folder);
    return found == overviews_.end() ? nullptr : found->second;
  }

 private:
  const CommonOptions common_;
  const CliHost& host_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const JobOverview>> overviews_;
};

int RunView(const ViewVerbOptions& options, const CliHost& host) {
  auto jobs = std::make_shared<ServedJobs>(options.common, &host);
  auto progress = std::make_shared<OpeningProgress>();
  ViewOptions view_options{.files = options.common.files,
                           .port = static_cast<int>(options.port),
                           .idle_s = options.idle_s,
                           .max_memory = options.common.max_memory,
                           .format = options.common.from,
                           .page = std::string(PageWithoutData())};
  view_options.is_job = IsJob;
  view_options.open_job = [jobs](const std::string& folder) { return jobs->Open(folder); };
  view_options.document = [jobs](const Trace& trace, const std::string& title, size_t max_bytes, bool is_partial) {
    const std::shared_ptr<const JobOverview> job = jobs->Of(title);
    return HtmlDataText(trace, {.title = title,
                                .files = {title},
                                .job = job.get(),
                                .page = {.max_bytes = max_bytes, .is_partial = is_partial}});
  };
  view_options.arguments = PageArguments;
  if (!options.common.quiet) {
    view_options.on_progress = [progress](const std::string& file, uint64_t read, uint64_t total) {
      progress->Show(file, read, total);
    };
  }
  Result<ViewServer> server = ViewServer::Start(view_options);
  progress->End();
  return server.ok() ? Serve(&server.value(), options.open) : ExitFor(server.error());
}

}  // namespace

Verb ViewVerb(const CliHost& host) {
  auto options = std::make_shared<ViewVerbOptions>();
  Verb verb{.names = {"view"},
            .description = "serve traces of any size to a browser on this machine",
            .run = [options, &host] { return UseInput("view", [&] { return RunView(*options, host); }); }};
  AddCommonOptions(&verb, &options->common);
  verb.options[0].description = "traces, folders with traces, or folders of `opscope collect`; - is standard input";
  verb.Add({.names = {"--port"},
            .target = &options->port,
            .description = "the port on 127.0.0.1; 0: a free one",
            .least = 0,
            .most = 65535});
  verb.Add({.names = {"--idle"},
            .target = &options->idle_s,
            .description = "end after so many seconds without a request; 0: never",
            .least = 0,
            .most = 1e9});
  verb.Add({"--open"}, &options->open, "open the page: $BROWSER, or the desktop's");
  return verb;
}

}  // namespace opscope
