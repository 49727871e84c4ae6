// One connection of a browser: reads requests, refuses or hands them over, and writes answers. It never waits: the
// server calls it when its socket is ready or its time is up.
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

#include "view/access.h"
#include "view/http_request.h"
#include "view/http_response.h"
#include "view/unique_descriptor.h"

namespace opscope {

// Largest body of a request.
inline constexpr size_t kMaxBodyBytes = size_t{1} << 20;

struct ConnectionRules {
  AccessRules access;
  std::string policy;  // Content-Security-Policy of every answer
};

class Connection {
 public:
  // descriptor: of a socket that does not block. Times are milliseconds of one clock.
  Connection(UniqueDescriptor descriptor, const ConnectionRules* rules, int64_t now_ms);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  // Events of poll() that it waits for.
  [[nodiscard]] short events() const;
  [[nodiscard]] bool is_closed() const { return step_ == Step::kClosed; }
  // It may be closed in favour of a new one: it waits for its client.
  [[nodiscard]] bool is_waiting() const { return step_ == Step::kReading || step_ == Step::kDraining; }
  [[nodiscard]] int64_t last_active_ms() const { return active_ms_; }
  [[nodiscard]] int64_t deadline_ms() const { return deadline_ms_; }

  // A request that is allowed and complete. The server must answer it by Answer.
  [[nodiscard]] std::optional<HttpRequest> TakeRequest();
  // Number of heads that arrived since the last call, refused ones too.
  [[nodiscard]] size_t TakeHeadCount();

  void OnReady(short events, int64_t now_ms);
  void Answer(const HttpResponse& response, int64_t now_ms);
  void Close() { step_ = Step::kClosed; }
  // Closes it if its time is up.
  void OnTime(int64_t now_ms);

 private:
  enum class Step : uint8_t { kReading, kComputing, kWriting, kDraining, kClosed };

  void Read(int64_t now_ms);
  // Goes on as far as it can without waiting.
  void Proceed(int64_t now_ms);
  // Acts on what the reader has found.
  void UseRequest();
  void UseHead();
  void Respond(const HttpResponse& response, bool may_keep);
  // False: the client must first take what was written.
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
