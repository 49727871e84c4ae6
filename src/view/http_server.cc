// One thread waits for all connections by poll(), so that a silent or slow client costs a descriptor and no thread.
// There are at most 256 connections; a new one beyond that replaces the one that has waited longest for its client.
// Answers may take seconds (a file is read, millions of spans are searched): two threads compute them, and an eventfd
// tells the first thread that one is ready. The same eventfd ends the server, from a signal handler too.
// SPDX-License-Identifier: Apache-2.0
#include "view/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/catch_bad_alloc.h"
#include "base/descriptor.h"
#include "base/start_thread.h"
#include "base/system_error.h"
#include "view/request_queue.h"

namespace opscope {
namespace {

constexpr size_t kWorkers = 2;
constexpr size_t kMaxConnections = 256;

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Error SocketError(const std::string& what) {
  return SystemErrorFor(what, errno, ErrorCode::kIo);
}

void Wake(int eventfd_number) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(eventfd_number, &one, sizeof(one));
}

// As many as the process may have descriptors for, with some left for files.
size_t ConnectionLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kMaxConnections;
  return std::clamp<size_t>(limit.rlim_cur > 24 ? limit.rlim_cur - 16 : 8, 8, kMaxConnections);
}

using Connections = std::map<uint64_t, std::unique_ptr<Connection>>;

// What Run does in its thread. Where memory is short one connection is given up and the server goes on: only the
// constructor throws std::bad_alloc.
class ServerLoop {
 public:
  ServerLoop(int listener, int wake, const ConnectionRules& rules, RequestQueue* queue, int64_t idle_s)
      : listener_(listener),
        wake_(wake),
        rules_(rules),
        queue_(queue),
        idle_ms_(idle_s * 1000),
        limit_(ConnectionLimit()),
        last_request_ms_(NowMs()) {
    polls_.reserve(limit_ + 2);
    polled_.reserve(limit_);
  }

  // False: idle for long enough.
  bool RunOnce() {
    Poll();
    const int64_t now = NowMs();
    for (const FinishedResponse& finished : queue_->TakeFinished()) {
      --computing_;
      last_request_ms_ = now;
      const auto found = connections_.find(finished.connection);
      if (found == connections_.end()) continue;
      Guard(found->second.get(), [&](Connection* to) {
        if (!finished.response) return to->Close();
        to->Answer(*finished.response, now);
      });
    }
    for (size_t i = 0; i < polled_.size(); ++i) {
      const short events = polls_[i + 2].revents;
      const auto found = connections_.find(polled_[i]);
      if (events != 0 && found != connections_.end())
        Guard(found->second.get(), [&](Connection* ready) { ready->OnReady(events, now); });
    }
    if (polls_[1].revents != 0) AcceptAll(now);
    for (auto& [number, connection] : connections_)
      Guard(connection.get(), [&](Connection* one) { one->OnTime(now); });
    CollectRequests(now);
    std::erase_if(connections_, [](const auto& one) { return one.second->is_closed(); });
    return idle_ms_ == 0 || computing_ > 0 || now - last_request_ms_ < idle_ms_;
  }

 private:
  // Allocates nothing: there are at most limit_ connections.
  void Poll() {
    polls_ = {{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
    polled_.clear();
    const int64_t now = NowMs();
    int64_t until = idle_ms_ != 0 && computing_ == 0 ? last_request_ms_ + idle_ms_ : INT64_MAX;
    if (accept_again_ms_ > now) {
      polls_[1].events = 0;
      until = std::min(until, accept_again_ms_);
    }
    for (const auto& [number, connection] : connections_) {
      polls_.push_back({connection->descriptor(), connection->events(), 0});
      polled_.push_back(number);
      until = std::min(until, connection->deadline_ms());
    }
    const int timeout = until == INT64_MAX ? -1 : static_cast<int>(std::clamp<int64_t>(until - now + 1, 0, 3'600'000));
    if (poll(polls_.data(), polls_.size(), timeout) < 0) {
      for (pollfd& one : polls_)
        one.revents = 0;
    }
    if (polls_[0].revents != 0) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = read(wake_, &count, sizeof(count));
    }
  }

  // Closes the connection if there is no memory for what `use` does.
  template <typename Use>
  void Guard(Connection* connection, const Use& use) {
    try {
      use(connection);
    } catch (const std::bad_alloc&) {
      connection->Close();
    }
  }

  void AcceptAll(int64_t now) {
    for (int i = 0; i < 64; ++i) {
      UniqueDescriptor descriptor(MoveAboveStderr(accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)));
      if (descriptor.get() < 0) {
        const bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        if (is_short && !CloseOneWaiting()) accept_again_ms_ = now + 100;
        return;
      }
      const int on = 1;
      setsockopt(descriptor.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      if (connections_.size() >= limit_ && !CloseOneWaiting()) continue;
      try {
        connections_.emplace(next_number_++, std::make_unique<Connection>(std::move(descriptor), &rules_, now));
      } catch (const std::bad_alloc&) {
        continue;  // the client sees a closed connection
      }
    }
  }

  // The one that has waited longest.
  bool CloseOneWaiting() {
    auto oldest = connections_.end();
    for (auto one = connections_.begin(); one != connections_.end(); ++one) {
      if (!one->second->is_waiting()) continue;
      if (oldest == connections_.end() || one->second->last_active_ms() < oldest->second->last_active_ms())
        oldest = one;
    }
    if (oldest == connections_.end()) return false;
    connections_.erase(oldest);
    return true;
  }

  void CollectRequests(int64_t now) {
    for (auto& [number, connection] : connections_) {
      if (connection->TakeHeadCount() > 0) last_request_ms_ = now;
      Guard(connection.get(), [&](Connection* one) {
        std::optional<HttpRequest> request = one->TakeRequest();
        if (!request) return;
        queue_->Put({number, std::move(*request)});
        ++computing_;
      });
    }
  }

  int listener_, wake_;
  const ConnectionRules& rules_;
  RequestQueue* queue_;
  int64_t idle_ms_;
  size_t limit_;
  int64_t last_request_ms_, accept_again_ms_ = 0;
  size_t computing_ = 0;
  uint64_t next_number_ = 0;
  Connections connections_;
  std::vector<pollfd> polls_;
  std::vector<uint64_t> polled_;  // numbers of the connections of polls_, from the third on
};

}  // namespace

struct HttpServer::Workers {
  RequestHandler handler;
  RequestQueue queue;
  int wake = -1;
  std::vector<std::thread> threads;

  ~Workers() {
    queue.End();
    for (std::thread& thread : threads)
      thread.join();
  }

  // As many threads as the system gives, at least one.
  Status Start() {
    threads.reserve(kWorkers);
    for (size_t i = 0; i < kWorkers; ++i) {
      std::thread thread;
      if (Status started = StartThread([this] { ServeRequests(); }, &thread); !started.ok())
        return threads.empty() ? started : Status();
      threads.push_back(std::move(thread));
    }
    return {};
  }

  void ServeRequests() {
    for (;;) {
      const std::optional<PendingRequest> pending = queue.Take();
      if (!pending.has_value()) return;
      queue.Finish({pending->connection, Respond(pending->request)});
      Wake(wake);
    }
  }

  // nullopt: there is no memory even for an error.
  std::optional<HttpResponse> Respond(const HttpRequest& request) {
    try {
      return handler(request);
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }
    try {
      return ErrorResponse(500, kOutOfMemoryText);
    } catch (const std::bad_alloc&) {
      return std::nullopt;
    }
  }
};

Result<HttpServer> HttpServer::Bind(int port) {
  HttpServer server;
  server.ends_ = std::make_unique<std::atomic<bool>>(false);
  server.listener_ = UniqueDescriptor(MoveAboveStderr(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
  server.wake_ = UniqueDescriptor(MoveAboveStderr(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)));
  if (server.listener_.get() < 0 || server.wake_.get() < 0) return SocketError("no socket");
  const int on = 1;
  setsockopt(server.listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(server.listener_.get(), any, size) != 0 || getsockname(server.listener_.get(), any, &size) != 0)
    return SocketError("port " + std::to_string(port));
  server.port_ = ntohs(address.sin_port);
  return server;
}

Status HttpServer::Listen(RequestHandler handler) {
  workers_ = std::make_shared<Workers>();
  workers_->handler = std::move(handler);
  workers_->wake = wake_.get();
  OPSCOPE_TRY(workers_->Start());
  if (listen(listener_.get(), SOMAXCONN) != 0) return SocketError("port " + std::to_string(port_));
  return {};
}

bool HttpServer::Run(const ConnectionRules& rules, const ServingOptions& options) {
  {
    ServerLoop loop(listener_.get(), wake_.get(), rules, &workers_->queue, options.idle_s);
    while (!ends_->load() && loop.RunOnce()) {
    }
  }
  listener_ = UniqueDescriptor();
  workers_->queue.End();
  return workers_->queue.WaitUntilIdle(options.patience_ms);
}

void HttpServer::End() {
  ends_->store(true);
  Wake(wake_.get());
}

}  // namespace opscope
