// Sends a request to many processes at once and waits for their answers: those of this machine through sockets, those
// of other machines through request.json, which they read once a second, and files HOST-PID.json.
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

// A process, from the view of a command.
struct Peer {
  std::string name;  // HOST-PID
  bool is_local = true;
  // From its answer; before an answer, from its name.
  ControlProcess process = {};
  // True if the process was on this machine and has ended. False if another machine may have the same name.
  bool is_gone = false;
  // State in the current exchange.
  bool is_done = false;
  bool has_answered = false;
  std::string why_not = {};  // why there is no answer
  std::unique_ptr<ProcessConnection> connection = {};
  std::string last_file = {};
};

// The processes of a folder, by their names alone.
[[nodiscard]] std::vector<Peer> FindPeers(const ControlFolder& folder);
// 16 random hexadecimal digits.
[[nodiscard]] std::string NewRequestNumber();
// The name of this machine in names of processes.
[[nodiscard]] std::string OwnHost();

class Exchange {
 public:
  // Called for each answer; true: the peer is done.
  using OnAnswer = std::function<bool(Peer* peer, const ControlAnswer& answer)>;

  Exchange(ControlFolder* folder, std::vector<Peer*> peers) : folder_(folder), peers_(std::move(peers)) {}

  // `message` goes to sockets; `file` to request.json, if there are peers of other machines. An unreachable
  // peer is done at once, with `why_not`.
  [[nodiscard]] Status Start(const std::string& message, const std::string& file, const std::string& request);
  // Runs until all peers are done. Each must give its first answer within `first` and its last one within `last`. A
  // peer whose connection ends earlier is done, with `why_not`.
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
  size_t next_ = 0;  // index of the next peer to connect
  std::string message_ = {}, request_ = {};
};

}  // namespace opscope
