// A connection to a process: sends one message and receives lines, without waiting. The caller polls the descriptor.
// A received line of more than 4096 bytes ends the connection.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/descriptor.h"

namespace opscope {

class ProcessConnection {
 public:
  // Takes ownership of a non-blocking descriptor.
  ProcessConnection(int descriptor, std::string message);

  int descriptor() const { return descriptor_.get(); }
  // POLLIN, and POLLOUT as long as a part of the message is left.
  short events() const;
  // Sends and receives what is possible now.
  void Continue();
  // The next complete line, without its end.
  std::optional<std::string> NextLine();
  // True if no more bytes can arrive. NextLine may still have lines.
  bool is_ended() const { return is_ended_; }

 private:
  void Send();
  void Receive();

  UniqueDescriptor descriptor_;
  std::string to_send_, received_;
  bool is_ended_ = false;
};

}  // namespace opscope
