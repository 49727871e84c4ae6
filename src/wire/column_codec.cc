// column_codec.h has the idea and the measured sizes. The loops here work on runs of eight rows:
// neighbouring values mostly have the same number of bytes, so one 64-bit comparison of eight length bytes
// decides whether all, none or some of them have byte k. All and none need no per-row test; some is done
// without branches, because a misprediction costs more than the two instructions it would save.
// SPDX-License-Identifier: Apache-2.0
#include "wire/column_codec.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>

#include "wire/zstd_contexts.h"
#include "wire/zstd_memory.h"

namespace opscope {
namespace {

constexpr size_t kMaxPlanes = 8;
constexpr uint8_t kConstant = 0;
constexpr uint8_t kPlanes = 1;

char BytesOf(uint64_t value) {
  return static_cast<char>((std::bit_width(value) + 7) / 8);
}

// Makes room for `size` bytes of unspecified content. One more byte may be read: the string's NUL.
char* RoomIn(std::string* buffer, size_t size) {
  if (buffer->size() < size) buffer->resize(size);
  return buffer->data();
}

// Sets `plane` to `size` bytes in `buffer`. The caller may read one byte more.
bool ReadPlane(ByteReader* reader, size_t size, std::string* buffer, const char** plane) {
  const uint64_t head = reader->Varint();
  const std::string_view stored = reader->Text(head / 2);
  if (!reader->ok()) return false;
  *plane = RoomIn(buffer, size);
  if (head % 2 == 0) {
    if (stored.size() != size) return false;
    std::copy(stored.begin(), stored.end(), buffer->data());
    return true;
  }
  const PooledDecompressor decompressor = TakeDecompressor();
  const size_t got = ZSTD_decompressDCtx(decompressor.get(), buffer->data(), size, stored.data(), stored.size());
  ThrowIfOutOfMemory(got);
  return got == size;
}

uint64_t Byte(char c) {
  return static_cast<unsigned char>(c);
}

// Adds byte k to every row. Returns the next byte of the plane.
const char* AddBytes(const char* next, size_t k, std::span<uint64_t> rows) {
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] |= Byte(next[i]) << (8 * k);
  return next + rows.size();
}

// For eight rows, sets the highest bit of byte i if row i has a byte k.
constexpr uint64_t kNone = 0, kAll = 0x8080808080808080u;
uint64_t HaveByte(const char* lengths, size_t k) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  uint64_t eight = 0;
  std::memcpy(&eight, lengths, 8);
  return (eight + kOnes * (0x7f - k)) & kAll;  // a length is at most 8, so no byte carries into the next
}

// Adds byte k to the rows that have one. Returns the next byte of the plane.
const char* AddBytes(const char* next, size_t k, const char* lengths, std::span<uint64_t> rows) {
  size_t i = 0;
  const auto add_mixed = [&](size_t end) {
    for (; i < end; ++i) {
      // Branch-free: a shorter row reads the byte of a later row (the last rows: the byte behind the plane) and masks it.
      const uint64_t has_byte = Byte(lengths[i]) > k ? 1 : 0;
      rows[i] |= (Byte(*next) & (0 - has_byte)) << (8 * k);
      next += has_byte;
    }
  };
  while (i + 8 <= rows.size()) {
    const uint64_t have = HaveByte(lengths + i, k);
    if (have != kNone && have != kAll) {
      add_mixed(i + 8);
      continue;
    }
    if (have == kAll) next = AddBytes(next, k, rows.subspan(i, 8));
    i += 8;
  }
  add_mixed(rows.size());
  return next;
}

// Copies byte k of the rows that have one to `plane` and returns their number. REQUIRES: `plane` has a byte per row.
size_t CopyBytes(std::span<const uint64_t> rows, const char* lengths, size_t k, char* plane) {
  size_t i = 0, next = 0;
  const auto copy_mixed = [&](size_t end) {
    for (; i < end; ++i) {  // branch-free: the next row overwrites the byte of a row that has no byte k
      plane[next] = static_cast<char>(rows[i] >> (8 * k));
      next += Byte(lengths[i]) > k ? 1 : 0;
    }
  };
  while (i + 8 <= rows.size()) {
    const uint64_t have = HaveByte(lengths + i, k);
    if (have != kNone && have != kAll) {
      copy_mixed(i + 8);
      continue;
    }
    for (size_t j = 0; have == kAll && j < 8; ++j)
      plane[next++] = static_cast<char>(rows[i + j] >> (8 * k));
    i += 8;
  }
  copy_mixed(rows.size());
  return next;
}

void ApplyTransform(std::span<uint64_t> values, ColumnEncoding encoding) {
  if (encoding == ColumnEncoding::kPlain) return;
  uint64_t previous = 0;
  for (uint64_t& value : values) {
    const uint64_t original = value;
    if (encoding == ColumnEncoding::kSigned) {
      value = ZigZag(static_cast<int64_t>(value));
    } else if (encoding == ColumnEncoding::kSparseDelta && original == UINT64_MAX) {
      value = 0;
    } else {
      value = ZigZag(static_cast<int64_t>(value - previous)) + (encoding == ColumnEncoding::kSparseDelta ? 1 : 0);
      previous = original;
    }
  }
}

void UndoTransform(std::span<uint64_t> values, ColumnEncoding encoding) {
  if (encoding == ColumnEncoding::kPlain) return;
  uint64_t previous = 0;
  for (uint64_t& value : values) {
    if (encoding == ColumnEncoding::kSigned) {
      value = static_cast<uint64_t>(UnZigZag(value));
    } else if (encoding == ColumnEncoding::kSparseDelta && value == 0) {
      value = UINT64_MAX;
    } else {
      value = previous + static_cast<uint64_t>(UnZigZag(value - (encoding == ColumnEncoding::kSparseDelta ? 1 : 0)));
      previous = value;
    }
  }
}

// kSparseDelta adds 1 to each zigzag difference, so the differences need a spare bit.
bool FitsSparseDelta(std::span<const uint64_t> values) {
  constexpr uint64_t kLimit = uint64_t{1} << 62;
  return std::all_of(values.begin(), values.end(), [](uint64_t v) { return v < kLimit || v == UINT64_MAX; });
}

}  // namespace

// Layout: varint (stored size * 2, plus 1 if compressed), then the stored bytes.
void ColumnEncoder::AppendPlane(std::string* out, std::string_view plane) {
  if (plane.size() > 16) {
    const size_t bound = ZSTD_compressBound(plane.size());
    char* frame = RoomIn(&frame_, bound);
    const PooledCompressor compressor = TakeCompressor();
    const size_t size = ZSTD_compress2(compressor.get(), frame, bound, plane.data(), plane.size());
    ThrowIfOutOfMemory(size);
    if (!ZSTD_isError(size) && size < plane.size()) {
      AppendVarint(out, size * 2 + 1);
      out->append(frame, size);
      return;
    }
  }
  AppendVarint(out, plane.size() * 2);
  out->append(plane);
}

void ColumnEncoder::AppendPlanes(std::string* out, std::span<const uint64_t> values) {
  char* const lengths = RoomIn(&lengths_, values.size());
  char* const plane = RoomIn(&plane_, values.size());
  char longest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    lengths[i] = BytesOf(values[i]);
    longest = std::max(longest, lengths[i]);
  }
  AppendPlane(out, {lengths, values.size()});
  for (size_t k = 0; k < static_cast<size_t>(longest); ++k) {
    AppendPlane(out, {plane, CopyBytes(values, lengths, k, plane)});
  }
}

void ColumnEncoder::Append(std::string* out, std::span<uint64_t> values, ColumnEncoding encoding) {
  if (encoding == ColumnEncoding::kSparseDelta && !FitsSparseDelta(values)) encoding = ColumnEncoding::kDelta;
  ApplyTransform(values, encoding);
  out->push_back(static_cast<char>(encoding));
  const bool constant = std::all_of(values.begin(), values.end(), [&](uint64_t v) { return v == values.front(); });
  out->push_back(static_cast<char>(constant ? kConstant : kPlanes));
  if (constant) {
    AppendVarint(out, values.empty() ? 0 : values.front());
  } else {
    AppendPlanes(out, values);
  }
}

bool ColumnDecoder::ReadPlanes(ByteReader* reader, std::span<uint64_t> values) {
  const char* lengths = nullptr;
  if (!ReadPlane(reader, values.size(), &lengths_, &lengths)) return false;
  std::array<size_t, 256> rows_with_length{};
  for (size_t i = 0; i < values.size(); ++i)
    ++rows_with_length[static_cast<unsigned char>(lengths[i])];
  if (std::any_of(rows_with_length.begin() + kMaxPlanes + 1, rows_with_length.end(), [](size_t n) { return n > 0; }))
    return false;
  std::array<const char*, kMaxPlanes> next{};
  std::array<bool, kMaxPlanes> in_every_row{};
  size_t planes = 0;
  for (size_t longer = values.size() - rows_with_length[0]; planes < kMaxPlanes && longer > 0;
       longer -= rows_with_length[++planes]) {
    if (!ReadPlane(reader, longer, &planes_[planes], &next[planes])) return false;
    in_every_row[planes] = longer == values.size();
  }
  // By chunks of rows, so that the values stay in the cache until their last plane.
  constexpr size_t kChunk = 1024;
  for (size_t first = 0; first < values.size(); first += kChunk) {
    const std::span<uint64_t> rows = values.subspan(first, std::min(kChunk, values.size() - first));
    std::fill(rows.begin(), rows.end(), 0);
    for (size_t k = 0; k < planes; ++k) {
      next[k] = in_every_row[k] ? AddBytes(next[k], k, rows) : AddBytes(next[k], k, lengths + first, rows);
    }
  }
  return true;
}

bool ColumnDecoder::Read(ByteReader* reader, std::span<uint64_t> values) {
  const auto encoding = static_cast<ColumnEncoding>(reader->Fixed<uint8_t>());
  const auto layout = reader->Fixed<uint8_t>();
  if (!reader->ok() || encoding > ColumnEncoding::kSparseDelta) return false;
  if (layout == kConstant) {
    std::fill(values.begin(), values.end(), reader->Varint());
  } else if (layout != kPlanes || !ReadPlanes(reader, values)) {
    return false;
  }
  UndoTransform(values, encoding);
  return reader->ok();
}

}  // namespace opscope
