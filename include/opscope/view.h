// Serves traces to a browser on this machine: `opscope view`. The server listens on
// 127.0.0.1 alone, and answers only who has the token of its address.
// docs/reference/view_server.md describes requests and checks.
//
//   Result<opscope::ViewServer> server = opscope::ViewServer::Start({.files = {"run.json"}});
//   if (!server.ok()) return Fail(server.error().message);
//   Print(server.value().address());          // http://127.0.0.1:40123/#token=...
//   server.value().Run();
//
// Thread rule: one thread at a time, but for End.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// What to serve, and how long.
struct ViewOptions {
  // Files, "-" for standard input, and folders: the traces below them.
  std::vector<std::string> files = {};
  // 0: a free one.
  int port = 0;
  // Ends after so many seconds without a request; 0: never.
  int64_t idle_s = 1800;
  // Bytes that all open traces may hold together; 0: no limit.
  uint64_t max_memory = 0;
  // As ImportOptions::format.
  std::string format = {};
  // Whether a folder is one trace rather than a place of traces, such as a folder of `opscope collect`, and what reads
  // it; null: there are no such folders. open_job is called by one thread at a time.
  std::function<bool(const std::string& folder)> is_job = nullptr;
  std::function<Result<Trace>(const std::string& folder)> open_job = nullptr;
  // The page, without data. Its Content-Security-Policy holds for all answers.
  std::string page = {};
  // The data document of a trace, of at most max_bytes; `title`: name of its file. is_partial: only what the page shows
  // first, in a fraction of the time.
  std::function<Result<std::string>(const Trace& trace, const std::string& title, size_t max_bytes, bool is_partial)>
      document = nullptr;
  // Makes what appends the arguments of a span as members of a JSON object, as PageArguments (export/html.h). The
  // result is called by one thread at a time.
  std::function<std::function<void(uint32_t span, std::string* members)>(const Trace& trace)> arguments = nullptr;
  // Called while a file is read, on any thread: bytes read so far, and their total.
  std::function<void(const std::string& file, uint64_t bytes_read, uint64_t total_bytes)> on_progress = nullptr;
};

class ViewServer {
 public:
  // Takes the port, opens the traces and listens; many are opened when they are first
  // asked for. kIo: the port is taken. Errors of files as of ImportFile.
  [[nodiscard]] static Result<ViewServer> Start(const ViewOptions& options);

  ViewServer(ViewServer&& other) noexcept;
  ViewServer& operator=(ViewServer&&) = delete;
  // Waits for computations that still run.
  ~ViewServer();

  // The address of the page, with the token. A secret: keep it out of logs.
  [[nodiscard]] const std::string& address() const;

  // Serves until End, or until it was idle for long enough. False: a computation still
  // runs. Throws std::bad_alloc only before it serves; later it closes the connection
  // for which there is no memory. REQUIRES: called once.
  [[nodiscard]] bool Run();
  // Ends Run soon. Any thread; safe in signal handlers.
  void End();

 private:
  struct State;
  explicit ViewServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace opscope
