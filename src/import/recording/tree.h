// Converts the recorder's order to the order of a Trace. Scopes are recorded when they end, so children come before
// their parent; `depth` shows which scope contains which:
//
//   program   a { b { c } d }
//   recorded  c2 b1 d1 a0          (name and depth)
//   pre-order a b c d
//
// A record adopts all pending records before it that are deeper than itself; gaps in depth are legal.
// A subtree has the same range of positions in both orders, so two linear passes suffice: a forward pass finds the
// begins of the subtrees. Then each node's position is the begin of its range plus its number of ancestors.
//
// Both passes work on parts of the sequence (chunks), each on its own thread. Little crosses the border of a part: a
// record that adopts everything pending in its part may adopt more in earlier parts, and each such record is less deep
// than the one before it. JoinParts handles those, one after the other:
//
//   part 0   c2 b1 | d1 a0   part 1      d1 and a0 reach left; d1 finds nothing deeper, a0 adopts b1
//
// Thread rule: LinkWithin and ForEachBackward one thread per part, JoinParts alone, between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace opscope {

// One part of the records of a thread; rows count from the part's first.
struct TreePart {
  std::span<const uint16_t> depth;
  // By row: the begin of its subtree relative to the part's first row; wraps below zero if it is before that row.
  std::span<uint32_t> begin;
  uint32_t first = 0;              // position of row 0 in the whole sequence
  std::vector<uint32_t> roots;     // rows without a parent in this part, in order
  std::vector<uint32_t> reaching;  // rows that adopt all pending rows before them in this part
  // The ancestors of the part's last row: the position where each subtree begins, outermost first.
  std::vector<uint32_t> ancestors;
};

// The first pass within a part. adopts(parent, child): called before a pending row becomes a child of a later, less
// deep row; false: it does not become one.
template <typename Adopts>
void LinkWithin(TreePart* part, Adopts adopts) {
  std::vector<uint32_t>& pending = part->roots;
  pending.clear();
  part->reaching.clear();
  for (uint32_t row = 0; row < part->depth.size(); ++row) {
    uint32_t begin = row;
    while (!pending.empty() && part->depth[pending.back()] > part->depth[row] && adopts(row, pending.back())) {
      begin = part->begin[pending.back()];
      pending.pop_back();
    }
    part->begin[row] = begin;
    if (pending.empty()) part->reaching.push_back(row);
    pending.push_back(row);
  }
}

// Lets the rows that reach left adopt rows of earlier parts, then finds the ancestors at the end of each part.
// part_at(p): the TreePart of part p. adopts(part of the parent, parent, part of the child, child): as above.
template <typename PartAt, typename Adopts>
void JoinParts(size_t count, PartAt part_at, Adopts adopts) {
  struct Pending {
    size_t part;
    size_t left;  // of its roots
  };
  std::vector<Pending> pending;
  uint32_t first = 0;
  for (size_t p = 0; p < count; ++p) {
    TreePart& part = part_at(p);
    part.first = first;
    first += static_cast<uint32_t>(part.depth.size());
    uint32_t begin = 0;  // begin of the last reaching row, which the next one adopts
    for (const uint32_t row : part.reaching) {
      while (!pending.empty()) {
        Pending& last = pending.back();
        const TreePart& before = part_at(last.part);
        const uint32_t child = before.roots[last.left - 1];
        if (before.depth[child] <= part.depth[row] || !adopts(p, row, last.part, child)) break;
        begin = before.first + before.begin[child] - part.first;
        if (--last.left == 0) pending.pop_back();
      }
      part.begin[row] = begin;
    }
    if (!part.roots.empty()) pending.push_back({p, part.roots.size()});
  }
  std::vector<uint32_t> open;
  for (size_t p = count; p-- > 0;) {
    TreePart& part = part_at(p);
    const auto reaches = [&part](uint32_t begin) { return begin < part.first; };
    part.ancestors = open;
    while (!open.empty() && !reaches(open.back()))
      open.pop_back();
    for (size_t i = part.reaching.size(); i-- > 0;) {
      const uint32_t begin = part.first + part.begin[part.reaching[i]];
      if (reaches(begin)) open.push_back(begin);
    }
  }
}

inline constexpr uint32_t kNoParent = std::numeric_limits<uint32_t>::max();

// The second pass: visit(row, place, depth, place of the parent or kNoParent) for each row of the part, last first.
// Places are positions of the whole sequence; depth is the number of ancestors (at most 65535).
template <typename Visit>
void ForEachBackward(const TreePart& part, Visit visit) {
  std::vector<uint32_t> open = part.ancestors;
  for (auto row = static_cast<uint32_t>(part.depth.size()); row-- > 0;) {
    while (!open.empty() && open.back() > part.first + row)
      open.pop_back();
    const auto depth = static_cast<uint32_t>(open.size());
    const uint32_t begin = part.first + part.begin[row];
    const uint32_t parent = open.empty() ? kNoParent : open.back() + depth - 1;
    visit(row, begin + depth, static_cast<uint16_t>(std::min<uint32_t>(depth, UINT16_MAX)), parent);
    open.push_back(begin);
  }
}

}  // namespace opscope
