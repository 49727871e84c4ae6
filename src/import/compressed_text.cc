// SPDX-License-Identifier: Apache-2.0
#include "import/compressed_text.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace opscope {
namespace {

constexpr uint64_t kMostAhead = uint64_t{4} << 20;

}  // namespace

// Bytes that are written never move: blocks look at them.
struct CompressedText::Buffer {
  explicit Buffer(size_t bytes) : data(static_cast<std::byte*>(std::malloc(bytes))), capacity(bytes) {
    if (!data) throw std::bad_alloc();
  }
  std::unique_ptr<std::byte, Decompressed::Free> data;
  size_t capacity;
  size_t used = 0;
};

CompressedText::CompressedText(std::span<const std::byte> bytes, CompressedFormat format, bool is_file_mapping)
    : bytes_(bytes), behind_(bytes, is_file_mapping), pieces_(PieceReader::Create(bytes, format)) {
}

void CompressedText::Produce(std::unique_lock<std::mutex>* lock) {
  is_busy_ = true;
  lock->unlock();
  TextPiece piece;
  bool more = false;
  try {
    more = pieces_->Next(&piece);
  } catch (...) {
    lock->lock();
    is_busy_ = false;
    changed_.notify_all();
    throw;
  }
  lock->lock();
  is_busy_ = false;
  is_drained_ = !more;
  if (more) {
    ahead_bytes_ += piece.size;
    ahead_.push_back(std::move(piece));
  }
  changed_.notify_all();
}

bool CompressedText::WorkAhead() {
  std::unique_lock lock(mutex_);
  if (is_busy_ || is_drained_ || ahead_bytes_ >= kMostAhead) return false;
  Produce(&lock);
  return true;
}

bool CompressedText::NextPiece(TextPiece* piece) {
  std::unique_lock lock(mutex_);
  while (ahead_.empty() && !(is_drained_ && !is_busy_)) {
    if (is_busy_) {
      changed_.wait(lock);
    } else {
      Produce(&lock);
    }
  }
  if (ahead_.empty()) return false;
  *piece = std::move(ahead_.front());
  ahead_.pop_front();
  ahead_bytes_ -= piece->size;
  return true;
}

void CompressedText::Append(const TextPiece& piece, size_t wanted) {
  if (!buffer_ || buffer_->capacity - buffer_->used < piece.size) {
    auto larger = std::make_shared<Buffer>(std::max(wanted, text_.size() + text_.size() / 2) + piece.size);
    if (!text_.empty()) std::memcpy(larger->data.get(), text_.data(), text_.size());
    larger->used = text_.size();
    buffer_ = std::move(larger);
  }
  std::memcpy(buffer_->data.get() + buffer_->used, piece.data.get(), piece.size);
  buffer_->used += piece.size;
  const size_t size = text_.size() + piece.size;
  text_ = {reinterpret_cast<const char*>(buffer_->data.get()) + buffer_->used - size, size};
}

void CompressedText::Extend(size_t size) {
  while (text_.size() < size && !ended_) {
    TextPiece piece;
    if (NextPiece(&piece)) {
      Append(piece, size == SIZE_MAX ? 0 : size);
    } else {
      ended_ = true;
    }
  }
}

TextBlock CompressedText::Take(size_t size) {
  TextBlock block{text_.substr(0, size), offset_, buffer_};
  text_.remove_prefix(size);
  offset_ += size;
  return block;
}

void CompressedText::GiveBack(const TextBlock& rest) {
  offset_ = rest.offset;
  if (rest.keeps == buffer_ && rest.text.data() + rest.text.size() == text_.data()) {
    text_ = {rest.text.data(), rest.text.size() + text_.size()};
    return;
  }
  if (rest.text.empty()) return;
  auto joined = std::make_shared<Buffer>(rest.text.size() + text_.size());
  std::memcpy(joined->data.get(), rest.text.data(), rest.text.size());
  if (!text_.empty()) std::memcpy(joined->data.get() + rest.text.size(), text_.data(), text_.size());
  joined->used = rest.text.size() + text_.size();
  text_ = {reinterpret_cast<const char*>(joined->data.get()), joined->used};
  buffer_ = std::move(joined);
}

void CompressedText::Release(uint64_t) {
  behind_.Drop(pieces_->consumed());
}

uint64_t CompressedText::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  return ahead_bytes_ + text_.size();
}

}  // namespace opscope
