// A server of HTTP on 127.0.0.1 for few clients and long computations: one thread moves the bytes of all connections,
// two others compute the answers.
//
//   Result<HttpServer> server = HttpServer::Bind(0);
//   OPSCOPE_TRY(server.value().Listen([](const HttpRequest& request) { return Compute(request); }));
//   server.value().Run(rules, {.idle_s = 60});
//
// Thread rule: one thread at a time, but for End.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/descriptor.h"
#include "opscope/result.h"
#include "view/connection.h"

namespace opscope {

// Computes the answer to an allowed request. Two threads may call it at once.
using RequestHandler = std::function<HttpResponse(const HttpRequest&)>;

struct ServingOptions {
  // Seconds without a request after which Run ends; 0: never.
  int64_t idle_s = 0;
  // How long the end waits for running computations.
  int64_t patience_ms = 1000;
};

class HttpServer {
 public:
  // Binds the port; 0: a free one. kIo: the port is in use.
  static Result<HttpServer> Bind(int port);

  HttpServer(HttpServer&&) = default;
  HttpServer& operator=(HttpServer&&) = delete;

  [[nodiscard]] uint16_t port() const { return port_; }
  // After this call clients can connect. kIo: no thread could be started. REQUIRES: called once.
  [[nodiscard]] Status Listen(RequestHandler handler);
  // Serves until End, or until it was idle for long enough. False: a computation goes on, and the process should end
  // without waiting for it; the destructor waits. Throws std::bad_alloc only before it serves; later it closes the
  // connection for which there is no memory. REQUIRES: Listen succeeded; called once.
  [[nodiscard]] bool Run(const ConnectionRules& rules, const ServingOptions& options);
  // Ends Run soon. Any thread; safe in signal handlers.
  void End();

 private:
  struct Workers;
  HttpServer() = default;

  UniqueDescriptor listener_, wake_;  // wake_: an eventfd that ends the waiting of Run
  uint16_t port_ = 0;
  std::shared_ptr<Workers> workers_;  // destroyed, which waits for its threads, before wake_, which they use
  std::unique_ptr<std::atomic<bool>> ends_;
};

}  // namespace opscope
