// One connection of a browser: reads requests, refuses them or passes them on, and writes answers. It never waits: the
// server calls it when its socket is ready or its deadline passes.
//
// Thread rule: used by the thread of the server.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "view/access.h"
#include "view/http_request.h"
#include "view/http_response.h"

namespace opscope {

// Largest body of a request.
inline constexpr size_t kMaxBodyBytes = size_t{1} << 20;

struct ConnectionRules {
  AccessRules access;
  std::string policy;  // Content-Security-Policy of every answer
};

class Connection {
 public:
  // descriptor: a non-blocking socket. Times are milliseconds of one clock.
  Connection(UniqueDescriptor descriptor, const ConnectionRules* rules, int64_t now_ms);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  // The events of poll() for which the connection waits.
  [[nodiscard]] short events() const;
  [[nodiscard]] bool is_closed() const { return step_ == Step::kClosed; }
  // True if it waits for its client, so that the server may close it in favour of a new connection.
  [[nodiscard]] bool is_waiting() const { return step_ == Step::kReading || step_ == Step::kDraining; }
  [[nodiscard]] int64_t last_active_ms() const { return active_ms_; }
  [[nodiscard]] int64_t deadline_ms() const { return deadline_ms_; }

  // Takes an allowed and complete request. The server must answer it by Answer.
  [[nodiscard]] std::optional<HttpRequest> TakeRequest();
  // Number of heads that arrived since the last call, including refused ones.
  [[nodiscard]] size_t TakeHeadCount();

  void OnReady(short events, int64_t now_ms);
  void Answer(const HttpResponse& response, int64_t now_ms);
  void Close() { step_ = Step::kClosed; }
  // Closes the connection if its deadline has passed.
  void OnTime(int64_t now_ms);

 private:
  enum class Step : uint8_t { kReading, kComputing, kWriting, kDraining, kClosed };

  void Read(int64_t now_ms);
  // Reads and writes as much as possible without waiting.
  void Proceed(int64_t now_ms);
  // Handles the state of the reader.
  void UseRequest();
  void UseHead();
  void Respond(const HttpResponse& response, bool may_keep);
  // False: the client must first receive the pending bytes.
  bool Write(int64_t now_ms);
  void FinishAnswer(int64_t now_ms);
  void SetDeadline(int64_t now_ms);

  UniqueDescriptor descriptor_;
  const ConnectionRules* rules_;
  Step step_ = Step::kReading;
  RequestReader reader_;
  std::optional<HttpRequest> request_;  // complete, not yet taken
  std::string output_;
  size_t written_ = 0;
  size_t heads_ = 0;
  bool is_kept_alive_ = false, is_head_request_ = false;
  int64_t active_ms_, deadline_ms_ = 0, request_began_ms_ = -1;
};

}  // namespace opscope
