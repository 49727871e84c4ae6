// SPDX-License-Identifier: Apache-2.0
#include "control/process_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "control/control_message.h"

namespace opscope {

ProcessConnection::ProcessConnection(int descriptor, std::string message)
    : descriptor_(descriptor), to_send_(std::move(message)) {
}

short ProcessConnection::events() const {
  return static_cast<short>(to_send_.empty() ? POLLIN : POLLIN | POLLOUT);
}

void ProcessConnection::Continue() {
  Send();
  Receive();
}

void ProcessConnection::Send() {
  while (!to_send_.empty()) {
    const ssize_t sent = send(descriptor_.get(), to_send_.data(), to_send_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      to_send_.erase(0, static_cast<size_t>(sent));
    } else if (errno != EINTR) {
      // The other side may have refused the message and said why before it closed: that is still to be received.
      if (errno != EAGAIN) to_send_.clear();
      return;
    }
  }
}

void ProcessConnection::Receive() {
  char bytes[kMaxControlMessage];
  while (!is_ended_ && received_.size() <= 4 * kMaxControlMessage) {
    const ssize_t got = recv(descriptor_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got > 0) {
      received_.append(bytes, static_cast<size_t>(got));
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      is_ended_ = true;
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

std::optional<std::string> ProcessConnection::NextLine() {
  const size_t end = received_.find('\n');
  if (end == std::string::npos) {
    if (received_.size() >= kMaxControlMessage) {
      is_ended_ = true;
      received_.clear();
    }
    return std::nullopt;
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

}  // namespace opscope
