// One poll loop for all peers: no thread per process, and a process that hangs delays no other. At most 200 sockets are
// open at once, because a command may open 1,024 descriptors, and each worker that loads data has a socket, too.
// SPDX-License-Identifier: Apache-2.0
#include "control/exchange.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"
#include "opscope/process_identity.h"

namespace opscope {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMaxConnections = 200;
constexpr milliseconds kLookAtFiles{100};

// Whether a process of this machine exists. Not by kill(), because opscope sends no signals, not even number 0.
bool Exists(int64_t pid) {
  struct stat facts{};
  return stat(("/proc/" + std::to_string(pid)).c_str(), &facts) == 0;
}

}  // namespace

std::string OwnHost() {
  return FindProcessIdentity().host;
}

std::string NewRequestNumber() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
    const auto now = static_cast<uint64_t>(ControlClock::now().time_since_epoch().count());
    number = now ^ static_cast<uint64_t>(getpid()) << 40;
  }
  std::string digits;
  AppendHex(&digits, number);
  return digits.insert(0, 16 - digits.size(), '0');
}

std::vector<Peer> FindPeers(const ControlFolder& folder) {
  const std::string host = HostInNames(OwnHost());
  std::vector<Peer> peers;
  for (const std::string& name : folder.Processes()) {
    Peer peer{.name = name};
    const size_t dash = name.find('-');
    peer.process.host = name.substr(0, dash);
    std::from_chars(name.data() + dash + 1, name.data() + name.size(), peer.process.pid);
    peer.is_local = peer.process.host == host;
    peers.push_back(std::move(peer));
  }
  return peers;
}

Status Exchange::Start(const std::string& message, const std::string& file, const std::string& request) {
  message_ = message;
  request_ = request;
  next_ = 0;
  bool has_remote = false;
  for (Peer* peer : peers_) {
    peer->is_done = peer->has_answered = false;
    peer->why_not.clear();
    peer->connection.reset();
    peer->last_file = peer->is_local ? "" : folder_->ReadAnswerFile(peer->name).value_or("");
    has_remote |= !peer->is_local;
  }
  return has_remote ? folder_->WriteRequest(file) : Status();
}

void Exchange::ConnectMore() {
  size_t connected = static_cast<size_t>(
      std::count_if(peers_.begin(), peers_.end(), [](const Peer* peer) { return peer->connection != nullptr; }));
  for (; next_ < peers_.size() && connected < kMaxConnections; ++next_) {
    Peer* peer = peers_[next_];
    if (!peer->is_local) continue;
    Result<int> made = folder_->Connect(peer->name);
    if (made.ok()) {
      peer->connection = std::make_unique<ProcessConnection>(made.value(), message_);
      ++connected;
      continue;
    }
    // A machine of the same name may share the folder: its sockets refuse connections from here, too.
    if (made.error().code == ErrorCode::kNotFound && !Exists(peer->process.pid) && folder_->IsOfThisMachineAlone()) {
      peer->is_gone = true;
      folder_->RemoveSocket(peer->name);
      End(peer, "the process has ended without removing its socket");
      continue;
    }
    End(peer, made.error().message);
  }
}

void Exchange::End(Peer* peer, const std::string& why_not) {
  peer->is_done = true;
  peer->connection.reset();
  peer->why_not = why_not;
}

// Waits until a connection is ready, or it is time to look at the files.
bool Exchange::WaitForEvents() {
  std::vector<pollfd> polled;
  open_.clear();
  for (Peer* peer : peers_) {
    if (peer->is_done || !peer->connection) continue;
    open_.push_back(peer);
    polled.push_back({peer->connection->descriptor(), peer->connection->events(), 0});
  }
  return poll(polled.data(), polled.size(), static_cast<int>(kLookAtFiles.count())) > 0;
}

void Exchange::Run(milliseconds first, milliseconds last, const OnAnswer& on_answer) {
  const ControlClock::time_point begin = ControlClock::now();
  size_t waited_with = 0;  // the limit for first answers counts anew for those who had to wait for a connection
  ControlClock::time_point first_until = begin + first;
  const auto is_done = [](const Peer* peer) { return peer->is_done; };
  while (!std::all_of(peers_.begin(), peers_.end(), is_done)) {
    ConnectMore();
    if (next_ != std::exchange(waited_with, next_)) first_until = ControlClock::now() + first;
    const bool is_ready = WaitForEvents();
    for (Peer* peer : open_) {
      if (is_ready) peer->connection->Continue();
      TakeAnswers(peer, on_answer);
    }
    for (Peer* peer : peers_) {
      if (!peer->is_local && !peer->is_done) TakeAnswerFile(peer, on_answer);
    }
    const ControlClock::time_point now = ControlClock::now();
    for (Peer* peer : peers_) {
      const bool is_late = now >= begin + last || (now >= first_until && !peer->has_answered);
      if (is_late && !peer->is_done && (peer->connection || !peer->is_local)) End(peer, "the process does not answer");
    }
  }
}

void Exchange::TakeAnswers(Peer* peer, const OnAnswer& on_answer) {
  while (!peer->is_done) {
    const std::optional<std::string> line = peer->connection->NextLine();
    if (!line) break;
    Use(peer, *line, on_answer);
  }
  if (!peer->is_done && peer->connection->is_ended())
    End(peer, peer->has_answered ? "the process has ended meanwhile" : "the process has closed the connection");
}

void Exchange::TakeAnswerFile(Peer* peer, const OnAnswer& on_answer) {
  const std::optional<std::string> content = folder_->ReadAnswerFile(peer->name);
  if (!content || *content == peer->last_file) return;
  peer->last_file = *content;
  const Result<ControlAnswer> answer = ReadAnswer(*content);
  if (!answer.ok() || answer.value().request != request_) return;  // of another command, or of another program
  Use(peer, *content, on_answer);
  if (peer->is_done) folder_->RemoveAnswerFile(peer->name);
}

void Exchange::Use(Peer* peer, const std::string& line, const OnAnswer& on_answer) {
  const Result<ControlAnswer> answer = ReadAnswer(line);
  if (!answer.ok()) return End(peer, answer.error().message);
  peer->has_answered = true;
  if (answer.value().kind == ControlAnswer::Kind::kRefused) return End(peer, answer.value().why_not);
  if (!on_answer(peer, answer.value())) return;
  peer->is_done = true;
  peer->connection.reset();
}

}  // namespace opscope
