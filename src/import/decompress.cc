// Whole gzip files go through libdeflate, which is two to three times as fast as zlib but knows only
// "all or nothing"; what it refuses (cut or damaged input, a lying size field) goes through zlib,
// which keeps what can be saved.
// SPDX-License-Identifier: Apache-2.0
#include "import/decompress.h"

#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace opscope {
namespace {

constexpr size_t kFirstCapacity = size_t{1} << 16;

// A malloc buffer that grows by half.
class Output {
 public:
  explicit Output(uint64_t max_bytes) : max_bytes_(max_bytes == 0 ? UINT64_MAX : max_bytes) {}

  // Room for at least one byte, or false at the limit.
  bool MakeRoom(size_t wanted) {
    if (size_ < capacity_) return true;
    if (size_ >= max_bytes_) return false;
    size_t capacity = std::max(capacity_ + capacity_ / 2, std::max(kFirstCapacity, size_ + wanted));
    capacity = static_cast<size_t>(std::min<uint64_t>(capacity, max_bytes_));
    auto* larger = static_cast<std::byte*>(std::realloc(data_.get(), capacity));
    if (larger == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(larger);
    capacity_ = capacity;
    return true;
  }
  std::byte* end() { return data_.get() + size_; }
  size_t room() const { return capacity_ - size_; }
  void Added(size_t bytes) { size_ += bytes; }
  size_t size() const { return size_; }

  Decompressed Finish() {
    Decompressed result;
    result.data = std::move(data_);
    result.size = size_;
    return result;
  }

 private:
  uint64_t max_bytes_;
  std::unique_ptr<std::byte, Decompressed::Free> data_;
  size_t size_ = 0, capacity_ = 0;
};

bool InflateWhole(std::span<const std::byte> bytes, Output* out, uint64_t max_bytes) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> owner(
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  libdeflate_decompressor* decompressor = owner.get();
  if (decompressor == nullptr) throw std::bad_alloc();
  bool whole = false;
  uint32_t size_field = 0;
  std::memcpy(&size_field, bytes.data() + bytes.size() - 4, 4);
  // The size field may lie: nothing deflates better than 1032 to 1.
  const bool plausible = bytes.size() >= 18 && size_field / 1032 <= bytes.size() &&
                         (max_bytes == 0 || size_field <= max_bytes) && out->MakeRoom(size_field);
  if (plausible && out->room() >= size_field) {
    size_t consumed = 0, produced = 0;
    whole = libdeflate_gzip_decompress_ex(decompressor, bytes.data(), bytes.size(), out->end(), out->room(), &consumed,
                                          &produced) == LIBDEFLATE_SUCCESS &&
            consumed == bytes.size();
    if (whole) out->Added(produced);
  }
  return whole;
}

struct StreamEnd {
  int64_t damaged_at = -1;
  bool cut = false;
  bool over_limit = false;
};

// Frees what zlib holds, also when the output cannot grow.
struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

StreamEnd InflateStream(std::span<const std::byte> bytes, Output* out) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  StreamEnd end;
  size_t consumed = 0;
  bool between_members = false;
  while (true) {
    if (stream.avail_in == 0 && consumed < bytes.size()) {
      const size_t step = std::min<size_t>(bytes.size() - consumed, size_t{1} << 30);
      stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data() + consumed));
      stream.avail_in = static_cast<uInt>(step);
      consumed += step;
    }
    if (between_members && stream.avail_in == 0) break;
    const auto offset = [&] { return static_cast<int64_t>(consumed - stream.avail_in); };
    if (!out->MakeRoom(bytes.size())) {
      end = {offset(), false, true};
      break;
    }
    const size_t room = std::min<size_t>(out->room(), size_t{1} << 30);
    stream.next_out = reinterpret_cast<Bytef*>(out->end());
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    out->Added(room - stream.avail_out);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END) {
      between_members = true;
      inflateReset(&stream);
      continue;
    }
    // Trailing bytes that are not another member are padding (tar and tape writers leave such).
    if (status != Z_OK && between_members && status != Z_BUF_ERROR) break;
    between_members = false;
    if (status == Z_OK) continue;
    end = {offset(), status == Z_BUF_ERROR, false};
    break;
  }
  return end;
}

StreamEnd ZstdStream(std::span<const std::byte> bytes, Output* out) {
  const auto free = [](ZSTD_DStream* owned) { ZSTD_freeDStream(owned); };
  const std::unique_ptr<ZSTD_DStream, decltype(free)> owner(ZSTD_createDStream(), free);
  ZSTD_DStream* stream = owner.get();
  if (stream == nullptr) throw std::bad_alloc();
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  StreamEnd end;
  size_t pending = 1;
  while (true) {
    if (!out->MakeRoom(bytes.size())) {
      end = {static_cast<int64_t>(input.pos), false, true};
      break;
    }
    ZSTD_outBuffer output{out->end(), out->room(), 0};
    const size_t before = input.pos;
    pending = ZSTD_decompressStream(stream, &output, &input);
    out->Added(output.pos);
    if (ZSTD_getErrorCode(pending) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (ZSTD_isError(pending)) {
      end = {static_cast<int64_t>(before), false, false};
      break;
    }
    if (input.pos == input.size && output.pos < output.size) {
      if (pending != 0) end = {static_cast<int64_t>(bytes.size()), true, false};
      break;
    }
  }
  return end;
}

}  // namespace

void Decompressed::Free::operator()(std::byte* bytes) const {
  std::free(bytes);
}

CompressedFormat DetectCompression(std::span<const std::byte> bytes) {
  const auto starts_with = [&](std::initializer_list<int> magic) {
    return bytes.size() >= magic.size() &&
           std::equal(magic.begin(), magic.end(), bytes.begin(),
                      [](int a, std::byte b) { return static_cast<std::byte>(a) == b; });
  };
  if (starts_with({0x1f, 0x8b})) return CompressedFormat::kGzip;
  if (starts_with({0x28, 0xb5, 0x2f, 0xfd})) return CompressedFormat::kZstd;
  return CompressedFormat::kNone;
}

Result<Decompressed> Decompress(std::span<const std::byte> bytes, CompressedFormat format, std::string_view name,
                                uint64_t max_bytes) {
  Output out(max_bytes);
  StreamEnd end;
  if (format == CompressedFormat::kZstd) {
    end = ZstdStream(bytes, &out);
  } else if (bytes.size() < 18 || !InflateWhole(bytes, &out, max_bytes)) {
    end = InflateStream(bytes, &out);
  }
  if (end.damaged_at >= 0 && !end.over_limit && out.size() == 0) {
    return Error{ErrorCode::kMalformed,
                 std::string(name) + ": at byte " + std::to_string(end.damaged_at) +
                     (end.cut ? ": the compressed data ends before its first byte of content"
                              : ": the compressed data is damaged"),
                 0};
  }
  Decompressed result = out.Finish();
  result.damaged_at = end.damaged_at;
  result.cut = end.cut;
  result.over_limit = end.over_limit;
  return result;
}

}  // namespace opscope
