// Ticks are converted to nanoseconds by a rate in 32.32 fixed point per piece between two calibrations, in 128-bit
// integers: a double would lose nanoseconds after 104 days of uptime. The two clocks of a calibration are read tens of
// nanoseconds apart, which distorts the rate of a short piece. So calibrations are dropped until two neighbouring
// pieces last 200 ms together, and the last piece, whose rate is used for all later times, lasts 100 ms.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/clock.h"

#include <algorithm>

namespace opscope {
namespace {

constexpr int64_t kShortestPieceNs = 100'000'000;
constexpr __int128 kOne = __int128{1} << 32;

bool Follows(const Calibration& a, const Calibration& b) {
  return b.ticks > a.ticks && b.unix_ns > a.unix_ns;
}

std::vector<Calibration> Thin(std::vector<Calibration> all) {
  std::sort(all.begin(), all.end(), [](const Calibration& a, const Calibration& b) {
    return a.ticks != b.ticks ? a.ticks < b.ticks : a.unix_ns < b.unix_ns;
  });
  std::vector<Calibration> kept;
  for (const Calibration& next : all) {
    if (next.ticks == 0 && next.unix_ns == 0) continue;
    if (!kept.empty() && !Follows(kept.back(), next)) continue;
    const bool crowded = kept.size() > 1 && next.unix_ns / 2 - kept[kept.size() - 2].unix_ns / 2 < kShortestPieceNs;
    if (crowded) kept.pop_back();
    kept.push_back(next);
  }
  const size_t n = kept.size();
  if (n > 2 && kept[n - 1].unix_ns / 2 - kept[n - 2].unix_ns / 2 < kShortestPieceNs / 2) kept.erase(kept.end() - 2);
  return kept;
}

}  // namespace

TickClock::TickClock(std::vector<Calibration> calibrations, int64_t epoch_ns, const Calibration& known_rate)
    : epoch_ns_(epoch_ns) {
  std::vector<Calibration> kept = Thin(std::move(calibrations));
  if (kept.size() == 1 && known_rate.ticks > 0 && known_rate.unix_ns > 0) {
    Calibration later;
    if (!__builtin_add_overflow(kept[0].ticks, known_rate.ticks, &later.ticks) &&
        !__builtin_add_overflow(kept[0].unix_ns, known_rate.unix_ns, &later.unix_ns)) {
      kept.push_back(later);
    }
  }
  if (kept.empty()) {
    pieces_.push_back({0, 0, static_cast<int64_t>(kOne)});
    return;
  }
  if (epoch_ns_ == 0) epoch_ns_ = kept.front().unix_ns;
  for (size_t i = 0; i + 1 < kept.size() || i == 0; ++i) {
    __int128 rate = kOne;
    if (i + 1 < kept.size()) {
      const auto ns = static_cast<__int128>(kept[i + 1].unix_ns) - kept[i].unix_ns;
      rate = std::min<__int128>((ns << 32) / (kept[i + 1].ticks - kept[i].ticks), INT64_MAX);
    }
    const auto ns = static_cast<uint64_t>(kept[i].unix_ns) - static_cast<uint64_t>(epoch_ns_);
    pieces_.push_back({kept[i].ticks, static_cast<int64_t>(ns), static_cast<int64_t>(rate)});
  }
}

uint64_t TickClock::TicksAt(Timestamp time) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), time.ns,
                                      [](int64_t ns, const Piece& piece) { return ns < piece.ns; });
  const Piece& piece = after == pieces_.begin() ? *after : *(after - 1);
  if (piece.rate <= 0) return piece.ticks;
  const __int128 wanted = (static_cast<__int128>(time.ns) - piece.ns) << 32;
  __int128 ticks = wanted / piece.rate;
  if (wanted % piece.rate > 0) ++ticks;
  ticks += piece.ticks;
  if (after != pieces_.begin() && after != pieces_.end()) ticks = std::min<__int128>(ticks, after->ticks);
  return static_cast<uint64_t>(std::clamp<__int128>(ticks, 0, UINT64_MAX));
}

}  // namespace opscope
