// The server when memory is short: operator new of this program fails on the threads of the server when a test arms it.
// SPDX-License-Identifier: Apache-2.0
#include "view/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "base/no_threads_for_test.h"

namespace opscope {
namespace {

// Allocations of threads other than the test's that still succeed; those after them fail: one, or all.
std::atomic<int64_t> allocations_left = INT64_MAX;
std::atomic<bool> all_fail = false;
thread_local bool is_client = false;

bool MustFail() {
  if (is_client) return false;
  const int64_t left = allocations_left.fetch_sub(1);
  return left == 0 || (left < 0 && all_fail);
}

}  // namespace
}  // namespace opscope

// Not inlined: GCC would warn that memory of operator new is freed by free().
[[gnu::noinline]] void* operator new(size_t size) {
  void* const memory = opscope::MustFail() ? nullptr : std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}

namespace opscope {
namespace {

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    is_client = true;
    Result<HttpServer> bound = HttpServer::Bind(0);
    ASSERT_TRUE(bound.ok()) << bound.error().message;
    server_.emplace(std::move(bound).value());
    rules_.access.port = server_->port();
    rules_.access.token = std::string(32, '0');
    rules_.access.is_path = [](std::string_view path) { return path == "/"; };
    // Longer than what fits into the object of a string.
    ASSERT_TRUE(server_->Listen([](const HttpRequest&) { return HttpResponse{.body = std::string(100, 'x')}; }).ok());
    thread_ = std::thread([this] {
      try {
        is_idle_ = server_->Run(rules_, {.patience_ms = 10'000});
      } catch (const std::bad_alloc&) {
        has_thrown_ = true;
      }
    });
    ASSERT_TRUE(Ask().starts_with("HTTP/1.1 200 "));  // its threads have started
  }

  void TearDown() override {
    Disarm();
    if (!thread_.joinable()) return;
    server_->End();
    thread_.join();
    EXPECT_FALSE(has_thrown_);
    EXPECT_TRUE(is_idle_);
  }

  static void Arm(int64_t successes, bool all) {
    all_fail = all;
    allocations_left = successes;
  }
  // Whether an allocation failed.
  static bool Disarm() { return allocations_left.exchange(INT64_MAX) < 0; }

  // All bytes until the server closes the connection; "timeout" after ten seconds.
  std::string Ask() const {
    const UniqueDescriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return "not connected";
    const std::string request = "GET / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server_->port()) +
                                "\r\nAuthorization: Bearer " + rules_.access.token + "\r\nConnection: close\r\n\r\n";
    [[maybe_unused]] const ssize_t sent = send(client.get(), request.data(), request.size(), MSG_NOSIGNAL);
    std::string answer;
    char bytes[4096];
    for (;;) {
      const ssize_t got = recv(client.get(), bytes, sizeof(bytes), 0);
      if (got < 0 && errno == EAGAIN) return "timeout";
      if (got <= 0) return answer;
      answer.append(bytes, static_cast<size_t>(got));
    }
  }

  std::optional<HttpServer> server_;
  ConnectionRules rules_;
  std::thread thread_;
  bool is_idle_ = false, has_thrown_ = false;
};

TEST_F(HttpServerTest, AConnectionWithoutMemoryIsClosedAndTheNextIsServed) {
  Arm(0, true);
  EXPECT_EQ(Ask(), "");
  EXPECT_TRUE(Disarm());
  EXPECT_TRUE(Ask().starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, GoesOnWhicheverAllocationOfARequestFails) {
  for (const bool all : {false, true}) {
    bool has_failed = true;
    for (int64_t successes = 0; has_failed; ++successes) {
      ASSERT_LT(successes, 1000);
      Arm(successes, all);
      const std::string answer = Ask();
      has_failed = Disarm();
      EXPECT_NE(answer, "timeout") << successes;
      EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 200 ") || answer.starts_with("HTTP/1.1 500 "))
          << answer;
      ASSERT_TRUE(Ask().starts_with("HTTP/1.1 200 ")) << successes;
    }
  }
}

TEST(HttpServer, SaysThatThereIsNoThreadToAnswer) {
  const NoThreads none;
  Result<HttpServer> server = HttpServer::Bind(0);
  ASSERT_TRUE(server.ok()) << server.error().message;
  const Status listening = server.value().Listen([](const HttpRequest&) { return HttpResponse(); });
  ASSERT_FALSE(listening.ok());
  EXPECT_EQ(listening.error().message, "no thread could be started: Resource temporarily unavailable");
}

}  // namespace
}  // namespace opscope
