// CPython's list sort up to 3.10 (Timsort), step by step, because with NaNs among the keys the result depends on which
// keys are compared (list_sort.h). Natural runs are found or made by binary insertion, kept on a stack of balanced
// lengths, and merged; where one side keeps winning, the merge gallops with exponential search.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/megengine/list_sort.h"

#include <algorithm>

namespace opscope {
namespace {

using Index = ptrdiff_t;

constexpr Index kMinGallop = 7;

bool Less(const SortedRow& a, const SortedRow& b) {
  return a.key < b.key;
}

// The number of rows in a[0, n) for which `is_before` holds; these rows precede all others. The exponential search
// starts at `hint`.
template <typename IsBefore>
Index Gallop(const SortedRow* a, Index n, Index hint, const IsBefore& is_before) {
  Index last = 0, ofs = 1;
  if (is_before(a[hint])) {
    const Index most = n - hint;
    while (ofs < most && is_before(a[hint + ofs]))
      last = ofs, ofs = ofs * 2 + 1;
    ofs = std::min(ofs, most);
    last += hint, ofs += hint;
  } else {
    const Index most = hint + 1;
    while (ofs < most && !is_before(a[hint - ofs]))
      last = ofs, ofs = ofs * 2 + 1;
    ofs = std::min(ofs, most);
    const Index nearer = last;
    last = hint - ofs, ofs = hint - nearer;
  }
  ++last;
  while (last < ofs) {
    const Index middle = last + (ofs - last) / 2;
    if (is_before(a[middle])) last = middle + 1;
    else ofs = middle;
  }
  return ofs;
}

// The index at which `key` belongs in a[0, n), before equal keys.
Index GallopLeft(const SortedRow& key, const SortedRow* a, Index n, Index hint) {
  return Gallop(a, n, hint, [&](const SortedRow& row) { return Less(row, key); });
}

// The same, behind equal keys.
Index GallopRight(const SortedRow& key, const SortedRow* a, Index n, Index hint) {
  return Gallop(a, n, hint, [&](const SortedRow& row) { return !Less(key, row); });
}

// How a merge of two adjacent runs ended: the rest of the copied run remains, or a single row of it.
enum class MergeEnd : uint8_t { kRestOfCopy, kOneOfCopy };

class Sort {
 public:
  explicit Sort(std::vector<SortedRow>* rows) : rows_(rows->data()), size_(static_cast<Index>(rows->size())) {}

  void Run() {
    if (size_ < 2) return;
    const Index least = MinRun(size_);
    for (Index begin = 0; begin < size_;) {
      const Index left = size_ - begin;
      Index length = TakeRun(begin);
      if (length < least) {
        const Index forced = std::min(left, least);
        InsertBinary(begin, begin + forced, begin + length);
        length = forced;
      }
      pending_.push_back({begin, length});
      MergeCollapse();
      begin += length;
    }
    while (pending_.size() > 1) {
      Index i = count() - 2;
      if (i > 0 && length(i - 1) < length(i + 1)) --i;
      MergeAt(i);
    }
  }

 private:
  struct Pending {
    Index begin = 0, length = 0;
  };

  Index count() const { return static_cast<Index>(pending_.size()); }
  Index length(Index i) const { return pending_[static_cast<size_t>(i)].length; }

  static Index MinRun(Index n) {
    Index odd = 0;
    for (; n >= 64; n >>= 1)
      odd |= n & 1;
    return n + odd;
  }

  // Length of the ascending run at `begin`; a strictly descending run is reversed first.
  Index TakeRun(Index begin) {
    Index end = begin + 1;
    if (end == size_) return 1;
    const bool falls = Less(rows_[end], rows_[end - 1]);
    for (++end; end < size_ && Less(rows_[end], rows_[end - 1]) == falls;)
      ++end;
    if (falls) std::reverse(rows_ + begin, rows_ + end);
    return end - begin;
  }

  void InsertBinary(Index begin, Index end, Index sorted) {
    for (; sorted < end; ++sorted) {
      const SortedRow pivot = rows_[sorted];
      Index left = begin, right = sorted;
      while (left < right) {
        const Index middle = left + (right - left) / 2;
        if (Less(pivot, rows_[middle])) right = middle;
        else left = middle + 1;
      }
      std::move_backward(rows_ + left, rows_ + sorted, rows_ + sorted + 1);
      rows_[left] = pivot;
    }
  }

  void MergeCollapse() {
    while (pending_.size() > 1) {
      Index i = count() - 2;
      if ((i > 0 && length(i - 1) <= length(i) + length(i + 1)) ||
          (i > 1 && length(i - 2) <= length(i - 1) + length(i))) {
        if (length(i - 1) < length(i + 1)) --i;
      } else if (length(i) > length(i + 1)) {
        return;
      }
      MergeAt(i);
    }
  }

  void MergeAt(Index i) {
    Pending& first = pending_[static_cast<size_t>(i)];
    const Pending second = pending_[static_cast<size_t>(i) + 1];
    a_ = rows_ + first.begin, na_ = first.length;
    b_ = rows_ + second.begin, nb_ = second.length;
    first.length += second.length;
    pending_.erase(pending_.begin() + i + 1);
    const Index there = GallopRight(*b_, a_, na_, 0);  // rows of a that are in place already
    a_ += there, na_ -= there;
    if (na_ == 0) return;
    nb_ = GallopLeft(a_[na_ - 1], b_, nb_, nb_ - 1);
    if (nb_ == 0) return;
    if (na_ <= nb_) MergeLow();
    else MergeHigh();
  }

  // Merges from the left; the first run is copied.
  void MergeLow() {
    copy_.assign(a_, a_ + na_);
    to_ = a_;
    a_ = copy_.data();
    if (MergeLowRows() == MergeEnd::kRestOfCopy) {
      std::copy(a_, a_ + na_, to_);
    } else {
      to_ = std::copy(b_, b_ + nb_, to_);
      *to_ = *a_;
    }
  }

  bool TakeLowB() {
    *to_++ = *b_++;
    return --nb_ == 0;
  }
  bool TakeLowA() {
    *to_++ = *a_++;
    return --na_ == 1;
  }

  MergeEnd MergeLowRows() {
    if (TakeLowB()) return MergeEnd::kRestOfCopy;
    if (na_ == 1) return MergeEnd::kOneOfCopy;
    Index gallop = min_gallop_;
    while (true) {
      for (Index of_a = 0, of_b = 0; of_a < gallop && of_b < gallop;) {
        if (Less(*b_, *a_)) {
          if (TakeLowB()) return MergeEnd::kRestOfCopy;
          ++of_b, of_a = 0;
        } else {
          if (TakeLowA()) return MergeEnd::kOneOfCopy;
          ++of_a, of_b = 0;
        }
      }
      ++gallop;
      for (Index of_a = kMinGallop, of_b = 0; of_a >= kMinGallop || of_b >= kMinGallop;) {
        gallop -= gallop > 1 ? 1 : 0;
        min_gallop_ = gallop;
        of_a = GallopRight(*b_, a_, na_, 0);
        to_ = std::copy(a_, a_ + of_a, to_);
        a_ += of_a, na_ -= of_a;
        if (of_a != 0 && na_ == 1) return MergeEnd::kOneOfCopy;
        if (na_ == 0) return MergeEnd::kRestOfCopy;  // only an inconsistent order (NaN) gets here
        if (TakeLowB()) return MergeEnd::kRestOfCopy;
        of_b = GallopLeft(*a_, b_, nb_, 0);
        to_ = std::copy(b_, b_ + of_b, to_);
        b_ += of_b, nb_ -= of_b;
        if (nb_ == 0) return MergeEnd::kRestOfCopy;
        if (TakeLowA()) return MergeEnd::kOneOfCopy;
      }
      min_gallop_ = ++gallop;
    }
  }

  // Merges from the right; the second run is copied. to_ is the next target, a_ and b_ are the first rows of their
  // runs.
  void MergeHigh() {
    copy_.assign(b_, b_ + nb_);
    to_ = b_ + nb_ - 1;
    b_ = copy_.data();
    if (MergeHighRows() == MergeEnd::kRestOfCopy) {
      std::copy(b_, b_ + nb_, to_ - (nb_ - 1));
    } else {
      std::copy_backward(a_, a_ + na_, to_ + 1);
      *(to_ - na_) = b_[0];
    }
  }

  bool TakeHighA() {
    *to_-- = a_[--na_];
    return na_ == 0;
  }
  bool TakeHighB() {
    *to_-- = b_[--nb_];
    return nb_ == 1;
  }

  MergeEnd MergeHighRows() {
    if (TakeHighA()) return MergeEnd::kRestOfCopy;
    if (nb_ == 1) return MergeEnd::kOneOfCopy;
    Index gallop = min_gallop_;
    while (true) {
      for (Index of_a = 0, of_b = 0; of_a < gallop && of_b < gallop;) {
        if (Less(b_[nb_ - 1], a_[na_ - 1])) {
          if (TakeHighA()) return MergeEnd::kRestOfCopy;
          ++of_a, of_b = 0;
        } else {
          if (TakeHighB()) return MergeEnd::kOneOfCopy;
          ++of_b, of_a = 0;
        }
      }
      ++gallop;
      for (Index of_a = kMinGallop, of_b = 0; of_a >= kMinGallop || of_b >= kMinGallop;) {
        gallop -= gallop > 1 ? 1 : 0;
        min_gallop_ = gallop;
        of_a = na_ - GallopRight(b_[nb_ - 1], a_, na_, na_ - 1);
        std::copy_backward(a_ + na_ - of_a, a_ + na_, to_ + 1);
        to_ -= of_a, na_ -= of_a;
        if (na_ == 0) return MergeEnd::kRestOfCopy;
        if (TakeHighB()) return MergeEnd::kOneOfCopy;
        of_b = nb_ - GallopLeft(a_[na_ - 1], b_, nb_, nb_ - 1);
        std::copy_backward(b_ + nb_ - of_b, b_ + nb_, to_ + 1);
        to_ -= of_b, nb_ -= of_b;
        if (of_b != 0 && nb_ == 1) return MergeEnd::kOneOfCopy;
        if (nb_ == 0) return MergeEnd::kRestOfCopy;
        if (TakeHighA()) return MergeEnd::kRestOfCopy;
      }
      min_gallop_ = ++gallop;
    }
  }

  SortedRow* rows_;
  Index size_;
  std::vector<Pending> pending_;
  std::vector<SortedRow> copy_;
  Index min_gallop_ = kMinGallop;
  // State of the current merge.
  SortedRow *a_ = nullptr, *b_ = nullptr, *to_ = nullptr;
  Index na_ = 0, nb_ = 0;
};

}  // namespace

void TimSort(std::vector<SortedRow>* rows) {
  Sort(rows).Run();
}

}  // namespace opscope
