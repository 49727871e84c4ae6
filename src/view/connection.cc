// The steps of a connection:
//
//   reading --head and body are complete--> computing --Answer--> writing --keep-alive--> reading
//      |                                                             |
//      +--refused, malformed, too large, too slow--------------------+--> draining --> closed
//
// Draining: a socket that is closed while bytes of its client are unread resets the connection, and the client may lose
// the answer. So the server ends its own direction and throws away what still comes, for a few seconds.
// SPDX-License-Identifier: Apache-2.0
#include "view/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace opscope {
namespace {

constexpr int64_t kSilentMs = 120'000;  // between requests
constexpr int64_t kRequestMs = 20'000;  // from the first byte of a request to its last
constexpr int64_t kWriteMs = 30'000;    // without progress
constexpr int64_t kDrainMs = 5'000;
constexpr size_t kReadBytes = size_t{16} << 10;

}  // namespace

Connection::Connection(UniqueDescriptor descriptor, const ConnectionRules* rules, int64_t now_ms)
    : descriptor_(std::move(descriptor)), rules_(rules), active_ms_(now_ms) {
  SetDeadline(now_ms);
}

short Connection::events() const {
  switch (step_) {
    case Step::kReading:
    case Step::kDraining:
      return POLLIN;
    case Step::kWriting:
      return POLLOUT;
    default:
      return 0;
  }
}

std::optional<HttpRequest> Connection::TakeRequest() {
  return std::exchange(request_, std::nullopt);
}

size_t Connection::TakeHeadCount() {
  return std::exchange(heads_, 0);
}

void Connection::SetDeadline(int64_t now_ms) {
  switch (step_) {
    case Step::kReading:
      if (!reader_.is_within_request()) {
        request_began_ms_ = -1;
        deadline_ms_ = now_ms + kSilentMs;
      } else if (request_began_ms_ < 0) {
        request_began_ms_ = now_ms;
        deadline_ms_ = now_ms + kRequestMs;
      }
      break;
    case Step::kWriting:
      deadline_ms_ = now_ms + kWriteMs;
      break;
    case Step::kDraining:
      break;  // set once
    default:
      deadline_ms_ = INT64_MAX;
  }
}

void Connection::OnReady(short events, int64_t now_ms) {
  if ((events & (POLLERR | POLLNVAL)) != 0 || ((events & POLLHUP) != 0 && step_ == Step::kComputing)) {
    step_ = Step::kClosed;
  } else if (step_ == Step::kReading || step_ == Step::kDraining) {
    Read(now_ms);
  } else if (step_ == Step::kWriting) {
    Proceed(now_ms);
  }
}

void Connection::Read(int64_t now_ms) {
  char bytes[kReadBytes];
  const ssize_t got = recv(descriptor(), bytes, sizeof(bytes), 0);
  if (got < 0) {
    if (errno != EAGAIN && errno != EINTR) step_ = Step::kClosed;
    return;
  }
  if (got == 0) {
    step_ = Step::kClosed;
    return;
  }
  active_ms_ = now_ms;
  if (step_ == Step::kDraining) return;
  reader_.Feed({bytes, static_cast<size_t>(got)});
  Proceed(now_ms);
}

void Connection::Proceed(int64_t now_ms) {
  while (true) {
    if (step_ == Step::kReading) {
      UseRequest();
      if (step_ == Step::kReading) break;
    } else if (step_ == Step::kWriting) {
      if (!Write(now_ms)) break;
      FinishAnswer(now_ms);  // the next request may have come with this one
    } else {
      break;
    }
  }
  SetDeadline(now_ms);
}

void Connection::UseRequest() {
  if (reader_.state() == ReadState::kHead) UseHead();
  if (step_ != Step::kReading) return;
  switch (reader_.state()) {
    case ReadState::kComplete:
      request_ = std::move(reader_.request());
      step_ = Step::kComputing;
      break;
    case ReadState::kMalformed:
      Respond(ErrorResponse(400, "The request is not HTTP/1.1 as this server reads it."), false);
      break;
    case ReadState::kHeadTooLarge:
      Respond(ErrorResponse(431, "The head of the request is too large."), false);
      break;
    case ReadState::kBodyTooLarge:
      Respond(ErrorResponse(413, "The body is larger than 1 MiB."), false);
      break;
    default:
      break;
  }
}

void Connection::UseHead() {
  const HttpRequest& request = reader_.request();
  ++heads_;
  is_head_request_ = request.method == "HEAD";
  is_kept_alive_ = request.IsKeptAlive();
  if (const auto refused = CheckAccess(request, rules_->access)) return Respond(*refused, !reader_.has_body());
  // Without a length the body would be empty, and its bytes would be taken for the next request.
  if (request.method == "POST" && !reader_.has_length())
    return Respond(ErrorResponse(411, "A POST needs Content-Length or chunks."), false);
  const auto expect = request.Header("expect");
  const bool waits = expect && *expect == "100-continue" && reader_.has_body();
  if (reader_.ReadBody(kMaxBodyBytes) == ReadState::kNeedsMore && waits) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    // A client that does not get it sends its body all the same, after a second.
    [[maybe_unused]] const ssize_t sent = send(descriptor(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL);
  }
}

void Connection::Respond(const HttpResponse& response, bool may_keep) {
  is_kept_alive_ = is_kept_alive_ && may_keep;
  output_ = ResponseBytes(response, rules_->policy, is_head_request_, is_kept_alive_);
  written_ = 0;
  step_ = Step::kWriting;
}

void Connection::Answer(const HttpResponse& response, int64_t now_ms) {
  if (step_ != Step::kComputing) return;
  Respond(response, true);
  Proceed(now_ms);
}

bool Connection::Write(int64_t now_ms) {
  while (written_ < output_.size()) {
    const ssize_t sent = send(descriptor(), output_.data() + written_, output_.size() - written_, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN && errno != EINTR) step_ = Step::kClosed;
      return false;
    }
    written_ += static_cast<size_t>(sent);
    active_ms_ = now_ms;
  }
  return true;
}

void Connection::FinishAnswer(int64_t now_ms) {
  std::string().swap(output_);
  if (!is_kept_alive_) {
    shutdown(descriptor(), SHUT_WR);
    step_ = Step::kDraining;
    deadline_ms_ = now_ms + kDrainMs;
    return;
  }
  step_ = Step::kReading;
  request_began_ms_ = -1;
  is_head_request_ = false;
  reader_.StartNext();
}

void Connection::OnTime(int64_t now_ms) {
  if (now_ms < deadline_ms_) return;
  if (step_ == Step::kReading && reader_.is_within_request()) {
    Respond(ErrorResponse(408, "The request did not arrive in time."), false);
    Proceed(now_ms);
  } else {
    step_ = Step::kClosed;
  }
}

}  // namespace opscope
