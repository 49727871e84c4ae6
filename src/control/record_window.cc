// Lets all ranks record the same steps. The processes are not stopped; each says in which step it is, and the window
// begins far enough ahead that the request reaches all before they get there:
//
//   rank 0 in step 70, rank 1 in step 71, the shorter step 9 ms; a request takes at most 300 ms
//   first step = 71 + 2 + 300 / 9 = 106
//
// A process that hangs delays the answers about the others, so these are then asked once more. Two steps are added
// because a rank may end one between its answer and the request. A rank that is past the first step all the same says
// "late" and records nothing, so a file never has other steps than those of the request.
//
// Of the processes with one rank only those count that make steps: workers that load data inherit the variables of
// their rank. A launcher without a rank makes no steps, either. A process of this machine that does not answer may have
// any rank, so it is listed as failed: otherwise a rank that hangs would be missing from the rows, and all would look
// well.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
#include "control/control_folder.h"
#include "control/exchange.h"
#include "control/processes.h"
#include "opscope/control.h"

namespace opscope {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kLocalLeadNs = 300'000'000;
// A process of another machine looks once a second, and its answer is as old; a file system of a network adds to that.
constexpr int64_t kRemoteLeadNs = 4'000'000'000;
constexpr int64_t kStepsAhead = 2;
constexpr milliseconds kFirstAnswer{8000};
// Limits of python/opscope/launch/demand.py, and time to write the files.
constexpr int64_t kMaxWaitNs = 600'000'000'000, kMinWaitNs = 60'000'000'000;
constexpr seconds kWindowAndEnd{60 + 60};

bool MakesSteps(const Peer& peer) {
  return peer.process.last_step > 0;
}

// Whether it is a process of this machine that has not said its rank. One of another machine may have ended long ago:
// its socket can be removed there alone.
bool IsSilent(const Peer& peer) {
  return peer.is_local && !peer.is_gone && peer.process.last_step < 0;
}

// The processes of one rank that record.
void ChooseOfRank(const std::vector<Peer*>& of_rank, std::vector<Peer*>* chosen) {
  const auto choose = [&](const auto& fits) {
    const size_t before = chosen->size();
    std::copy_if(of_rank.begin(), of_rank.end(), std::back_inserter(*chosen), fits);
    return chosen->size() > before;
  };
  if (choose([](const Peer* peer) { return MakesSteps(*peer); })) return;
  if (choose([](const Peer* peer) { return peer->process.state != ControlState::kUnavailable; })) return;
  choose([](const Peer*) { return true; });
}

// `peers` in order of their ranks.
std::vector<Peer*> Choose(std::vector<Peer>* peers, const RecordOptions& options) {
  const std::string host = HostInNames(OwnHost());
  const std::set<int32_t> ranks(options.ranks.begin(), options.ranks.end());
  const bool has_ranks = std::any_of(peers->begin(), peers->end(),
                                     [](const Peer& peer) { return !peer.is_gone && peer.process.rank >= 0; });
  std::vector<Peer*> chosen, of_rank;
  for (Peer& peer : *peers) {
    if (options.pid) {
      if (peer.is_local && peer.process.pid == *options.pid && !peer.is_gone) chosen.push_back(&peer);
      continue;
    }
    if (IsSilent(peer)) {
      if (ranks.empty()) chosen.push_back(&peer);
      continue;
    }
    const bool is_wanted = ranks.empty() ? !has_ranks || peer.process.rank >= 0 : ranks.contains(peer.process.rank);
    if (peer.is_gone || !is_wanted) continue;
    if (!of_rank.empty() && of_rank.back()->process.rank != peer.process.rank) {
      ChooseOfRank(of_rank, &chosen);
      of_rank.clear();
    }
    of_rank.push_back(&peer);
  }
  ChooseOfRank(of_rank, &chosen);
  return chosen;
}

// The step at which all can begin. REQUIRES: `ready` is not empty.
int64_t FirstStep(const std::vector<Peer*>& ready) {
  int64_t last = 0, shortest = INT64_MAX, lead = kLocalLeadNs;
  for (const Peer* peer : ready) {
    last = std::max(last, peer->process.last_step);
    if (MakesSteps(*peer)) shortest = std::min(shortest, std::max<int64_t>(peer->process.step_ns, 1000));
    if (!peer->is_local) lead = kRemoteLeadNs;
  }
  return last + kStepsAhead + lead / shortest;
}

// How long the slowest rank may take to begin, as it sees it itself.
milliseconds LongestWait(const std::vector<Peer*>& ready) {
  int64_t longest = kMinWaitNs;
  for (const Peer* peer : ready)
    longest = std::max(longest, std::min(peer->process.step_ns, kMaxWaitNs / 4) * 4);
  return std::chrono::duration_cast<milliseconds>(std::chrono::nanoseconds(longest)) + kWindowAndEnd;
}

// In pairs from the first to the last of each.
std::vector<std::pair<int32_t, int32_t>> RankRanges(const std::vector<Peer*>& peers) {
  std::vector<std::pair<int32_t, int32_t>> ranges;
  for (const Peer* peer : peers) {
    const int32_t rank = peer->process.rank;
    if (!ranges.empty() && rank - 1 <= ranges.back().second) {
      ranges.back().second = rank;
    } else {
      ranges.emplace_back(rank, rank);
    }
  }
  return ranges;
}

Status RecordAtOnce(ControlFolder* folder, const std::vector<Peer*>& ready, const ControlWindow& window,
                    std::vector<RecordedProcess>* rows) {
  Exchange exchange(folder, ready);
  const std::string file = RecordFile(window, OwnHost(), RankRanges(ready));
  OPSCOPE_TRY(exchange.Start(RecordMessage(window), file, window.request));
  std::vector<ControlAnswer> ends(ready.size());
  exchange.Run(kFirstAnswer, LongestWait(ready), [&](Peer* peer, const ControlAnswer& answer) {
    if (answer.kind != ControlAnswer::Kind::kWindow) return false;
    ends[static_cast<size_t>(std::find(ready.begin(), ready.end(), peer) - ready.begin())] = answer;
    return true;
  });
  folder->RemoveRequest();
  for (size_t i = 0; i < ready.size(); ++i) {
    const Peer& peer = *ready[i];
    const ControlAnswer& end = ends[i];
    rows->push_back({.rank = peer.process.rank,
                     .host = peer.process.host,
                     .pid = peer.process.pid,
                     .status = end.status,
                     .file = end.file.empty() ? "" : folder->PathOf(end.file),
                     .why_not = peer.why_not.empty() ? end.why_not : peer.why_not});
  }
  return {};
}

// The rows of processes and ranks that cannot record, which come before those of `ready`.
std::vector<RecordedProcess> RowsOfOthers(const std::vector<Peer>& peers, const std::vector<Peer*>& chosen,
                                          const std::vector<int32_t>& ranks, std::vector<Peer*>* ready) {
  std::vector<RecordedProcess> rows;
  std::set<int32_t> missing(ranks.begin(), ranks.end());
  for (Peer* peer : chosen) {
    const ControlProcess& process = peer->process;
    missing.erase(process.rank);
    if (process.state == ControlState::kReady) {
      ready->push_back(peer);
    } else {
      rows.push_back({.rank = process.rank, .host = process.host, .pid = process.pid, .why_not = process.why_not});
    }
  }
  const bool has_silent = std::any_of(peers.begin(), peers.end(), IsSilent);
  for (const int32_t rank : missing) {
    rows.push_back(
        {.rank = rank,
         .why_not = has_silent ? "no process that answers has this rank" : "there is no process of this rank"});
  }
  return rows;
}

Result<RecordReport> RecordSameSteps(const RecordOptions& options) {
  if (options.steps < 1 || options.steps > kMaxWindowSteps)
    return Error{ErrorCode::kInvalidArgument, "a window has 1 to " + std::to_string(kMaxWindowSteps) + " steps"};
  OPSCOPE_ASSIGN(ControlFolder folder, ControlFolder::Open(options.folder));
  const ControlClock::time_point begin = ControlClock::now();
  OPSCOPE_ASSIGN(std::vector<Peer> peers, AskProcesses(&folder));
  std::vector<Peer*> ready;
  RecordReport report;
  report.request = NewRequestNumber();
  report.rows = RowsOfOthers(peers, Choose(&peers, options), options.ranks, &ready);
  if (report.rows.empty() && ready.empty()) {
    const std::string what = options.pid ? "process " + std::to_string(*options.pid) : "process";
    return Error{ErrorCode::kNotFound, options.folder + ": there is no " + what + " that waits for requests"};
  }
  if (!ready.empty()) {
    if (ControlClock::now() - begin > std::chrono::nanoseconds(kLocalLeadNs)) OPSCOPE_TRY(AskAgain(&folder, ready));
    report.first_step = FirstStep(ready);
    const ControlWindow window{report.request, *report.first_step, options.steps};
    OPSCOPE_TRY(RecordAtOnce(&folder, ready, window, &report.rows));
  }
  std::stable_sort(report.rows.begin(), report.rows.end(), [](const RecordedProcess& a, const RecordedProcess& b) {
    return std::tie(a.rank, a.host, a.pid) < std::tie(b.rank, b.host, b.pid);
  });
  return report;
}

}  // namespace

Result<RecordReport> RecordOnDemand(const RecordOptions& options) {
  return CatchBadAlloc(options.folder, [&] { return RecordSameSteps(options); });
}

}  // namespace opscope
