// One buffer grows at its end while the window moves forward in it. Blocks that were taken share the buffer, so bytes
// that were handed out must not move: before the first Take the buffer is reallocated, afterwards a larger one is made
// and only the rest of the window is copied. Pieces are produced by one thread at a time, the reader or a helper
// (WorkAhead), at most 4 MB ahead.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/pieced_text.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace opscope {
namespace {

constexpr uint64_t kMaxAhead = uint64_t{4} << 20;
constexpr size_t kMaxWanted = size_t{64} << 20;  // a larger request means the whole text: not reserved at once

}  // namespace

// Bytes that are written never move once blocks look at them.
struct PiecedText::Buffer {
  explicit Buffer(size_t bytes) : data(NewPiece(bytes).data), capacity(bytes) {}
  void Grow(size_t bytes) {
    auto* grown = static_cast<std::byte*>(std::realloc(data.get(), bytes));
    if (grown == nullptr) throw AllocationFailure(bytes);
    static_cast<void>(data.release());
    data.reset(grown);
    capacity = bytes;
  }
  MallocBytes data;
  size_t capacity;
  size_t used = 0;
};

PiecedText::PiecedText(std::unique_ptr<PieceReader> pieces, uint64_t total_bytes)
    : total_bytes_(total_bytes), pieces_(std::move(pieces)) {
}

void PiecedText::Produce() {
  is_busy_ = true;
  mutex_.unlock();
  TextPiece piece;
  bool more = false;
  try {
    more = pieces_->Next(&piece);
  } catch (...) {
    mutex_.lock();
    is_busy_ = false;
    changed_.notify_all();
    throw;
  }
  mutex_.lock();
  is_busy_ = false;
  is_drained_ = !more;
  if (more) {
    ahead_bytes_ += piece.size;
    ahead_.push_back(std::move(piece));
  }
  changed_.notify_all();
}

bool PiecedText::WorkAhead() {
  const MutexLock lock(mutex_);
  if (pieces_->reads_into() || is_busy_ || is_drained_ || ahead_bytes_ >= kMaxAhead) return false;
  Produce();
  return true;
}

bool PiecedText::NextPiece(TextPiece* piece) {
  const MutexLock lock(mutex_);
  while (ahead_.empty() && !(is_drained_ && !is_busy_)) {
    if (is_busy_) {
      changed_.wait(mutex_);
    } else {
      Produce();
    }
  }
  if (ahead_.empty()) return false;
  *piece = std::move(ahead_.front());
  ahead_.pop_front();
  ahead_bytes_ -= piece->size;
  return true;
}

void PiecedText::MakeRoom(size_t capacity) {
  if (buffer_ && !has_given_) return buffer_->Grow(buffer_->used - text_.size() + capacity);
  auto larger = std::make_shared<Buffer>(capacity);
  if (!text_.empty()) std::memcpy(larger->data.get(), text_.data(), text_.size());
  larger->used = text_.size();
  buffer_ = std::move(larger);
}

// Behind text_, for `size` more bytes; `wanted`: of all that are expected soon.
std::byte* PiecedText::RoomFor(size_t size, size_t wanted) {
  if (!buffer_ || buffer_->capacity - buffer_->used < size)
    MakeRoom(std::max(wanted, text_.size() + text_.size() / 2) + size);
  return buffer_->data.get() + buffer_->used;
}

void PiecedText::ExtendWindow(size_t size) {
  buffer_->used += size;
  const size_t all = text_.size() + size;
  text_ = {reinterpret_cast<const char*>(buffer_->data.get()) + buffer_->used - all, all};
}

void PiecedText::Append(const TextPiece& piece, size_t wanted) {
  std::memcpy(RoomFor(piece.size, wanted), piece.data.get(), piece.size);
  ExtendWindow(piece.size);
}

void PiecedText::AppendRead(size_t wanted) {
  const size_t size = std::max(kPieceBytes, wanted - std::min(wanted, text_.size()));
  const size_t read = pieces_->ReadInto({RoomFor(size, wanted), size});
  ExtendWindow(read);
  ended_ = read < size;
}

void PiecedText::Extend(size_t size) {
  const size_t wanted = size <= kMaxWanted ? size : 0;
  while (text_.size() < size && !ended_) {
    TextPiece piece;
    if (pieces_->reads_into()) {
      AppendRead(wanted);
    } else if (NextPiece(&piece)) {
      Append(piece, wanted);
    } else {
      ended_ = true;
    }
  }
}

TextBlock PiecedText::Take(size_t size) {
  has_given_ = true;
  return Cut(size, buffer_);
}

void PiecedText::GiveBack(const TextBlock& rest) {
  if (rest.keeps == buffer_ && rest.text.data() + rest.text.size() == text_.data()) return Join(rest);
  offset_ = rest.offset;
  if (rest.text.empty()) return;
  auto joined = std::make_shared<Buffer>(rest.text.size() + text_.size());
  std::memcpy(joined->data.get(), rest.text.data(), rest.text.size());
  if (!text_.empty()) std::memcpy(joined->data.get() + rest.text.size(), text_.data(), text_.size());
  joined->used = rest.text.size() + text_.size();
  text_ = {reinterpret_cast<const char*>(joined->data.get()), joined->used};
  buffer_ = std::move(joined);
}

uint64_t PiecedText::memory_bytes() const {
  const MutexLock lock(mutex_);
  return ahead_bytes_ + text_.size() + pieces_->memory_bytes();
}

}  // namespace opscope
