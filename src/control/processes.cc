// SPDX-License-Identifier: Apache-2.0
#include "control/processes.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
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
  OPSCOPE_TRY(exchange.Start(StatusMessage(), StatusFile(request, OwnHost()), request));
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
  OPSCOPE_TRY(AskAgain(folder, all));
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
  return CatchBadAlloc(folder, [&]() -> Result<std::vector<ControlProcess>> {
    OPSCOPE_ASSIGN(ControlFolder opened, ControlFolder::Open(folder));
    OPSCOPE_ASSIGN(std::vector<Peer> peers, AskProcesses(&opened));
    std::vector<ControlProcess> processes;
    processes.reserve(peers.size());
    for (Peer& peer : peers)
      processes.push_back(std::move(peer.process));
    return processes;
  });
}

}  // namespace opscope
