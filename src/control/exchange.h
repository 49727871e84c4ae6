// Asks many processes at once and waits for their answers: those of this machine through sockets, those of other
// machines through request.json, which they read once a second, and files HOST-PID.json.
//
//   Exchange exchange(&folder, std::move(peers));
//   exchange.Start(StatusMessage(), StatusFile(request, host), request);
//   exchange.Run(std::chrono::seconds(5), [](Peer* peer, const ControlAnswer& answer) { ...; return true; });
//
// Thread rule: one thread at a time. Costs a descriptor per process of this machine: at most 200 are connected at once,
// the others after them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control/control_folder.h"
#include "control/control_message.h"
#include "control/process_connection.h"

namespace opscope {

using ControlClock = std::chrono::steady_clock;

// A process, as a command sees it.
struct Peer {
  std::string name;  // HOST-PID
  bool is_local = true;
  // What it has said of itself, else the parts of its name.
  ControlProcess process = {};
  // It is of this machine and does not exist any more. False if another machine may have the same name.
  bool is_gone = false;
  // Of the exchange that runs.
  bool is_done = false;
  bool has_answered = false;
  std::string why_not = {};  // why it is done without an answer
  std::unique_ptr<ProcessConnection> connection = {};
  std::string last_file = {};
};

// The processes of a folder, by their names alone.
[[nodiscard]] std::vector<Peer> FindPeers(const ControlFolder& folder);
// 16 random hexadecimal digits.
[[nodiscard]] std::string NewRequestNumber();
// Of this machine, as processes call it.
[[nodiscard]] std::string OwnHost();

class Exchange {
 public:
  // Called for each answer; true: the peer has no more to say.
  using OnAnswer = std::function<bool(Peer* peer, const ControlAnswer& answer)>;

  Exchange(ControlFolder* folder, std::vector<Peer*> peers) : folder_(folder), peers_(std::move(peers)) {}

  // `message` goes to sockets; `file` to request.json, if there are peers of other machines. Who cannot be reached is
  // done at once, with `why_not`.
  [[nodiscard]] Status Start(const std::string& message, const std::string& file, const std::string& request);
  // Until all peers are done: each gives its first answer within `first`, and the last one within `last`. A peer whose
  // connection ends before is done, with `why_not`.
  void Run(std::chrono::milliseconds first, std::chrono::milliseconds last, const OnAnswer& on_answer);

 private:
  void ConnectMore();
  bool WaitForEvents();
  void TakeAnswers(Peer* peer, const OnAnswer& on_answer);
  void TakeAnswerFile(Peer* peer, const OnAnswer& on_answer);
  void Use(Peer* peer, const std::string& line, const OnAnswer& on_answer);
  static void End(Peer* peer, const std::string& why_not);

  ControlFolder* folder_;
  std::vector<Peer*> peers_;
  std::vector<Peer*> open_ = {};
  size_t next_ = 0;  // of peers_, that is not connected yet
  std::string message_ = {}, request_ = {};
};

}  // namespace opscope
