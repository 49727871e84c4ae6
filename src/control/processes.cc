// SPDX-License-Identifier: Apache-2.0
#include "control/processes.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "opscope/control.h"

namespace opscope {
namespace {

// A process that holds Python's global lock in a long call answers late; one of another machine looks once a second,
// and a file system of a network shows it files late.
constexpr std::chrono::milliseconds kStatusLimit{5000};

}  // namespace

Status AskAgain(ControlFolder* folder, const std::vector<Peer*>& peers) {
  Exchange exchange(folder, peers);
  const std::string request = NewRequestNumber();
  if (Status started = exchange.Start(StatusMessage(), StatusFile(request, OwnHost()), request); !started.ok())
    return started;
  exchange.Run(kStatusLimit, kStatusLimit * 4, [](Peer* peer, const ControlAnswer& answer) {
    if (answer.kind == ControlAnswer::Kind::kStatus) peer->process = answer.process;
    return true;
  });
  folder->RemoveRequest();
  return {};
}

Result<std::vector<Peer>> AskProcesses(ControlFolder* folder) {
  std::vector<Peer> peers = FindPeers(*folder);
  std::vector<Peer*> all;
  all.reserve(peers.size());
  for (Peer& peer : peers)
    all.push_back(&peer);
  if (Status asked = AskAgain(folder, all); !asked.ok()) return asked.error();
  for (Peer& peer : peers) {
    if (!peer.why_not.empty()) peer.process.why_not = peer.why_not;
  }
  std::stable_sort(peers.begin(), peers.end(), [](const Peer& a, const Peer& b) {
    return std::tie(a.process.rank, a.process.host, a.process.pid) <
           std::tie(b.process.rank, b.process.host, b.process.pid);
  });
  return peers;
}

Result<std::vector<ControlProcess>> ListProcesses(const std::string& folder) {
  Result<ControlFolder> opened = ControlFolder::Open(folder);
  if (!opened.ok()) return opened.error();
  Result<std::vector<Peer>> peers = AskProcesses(&opened.value());
  if (!peers.ok()) return peers.error();
  std::vector<ControlProcess> processes;
  for (Peer& peer : peers.value())
    processes.push_back(std::move(peer.process));
  return processes;
}

}  // namespace opscope
