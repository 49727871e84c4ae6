// Members of gzip that are small go through libdeflate, which is two to three times as fast as zlib but knows only
// "all or nothing"; large ones, cut ones and damaged ones go through zlib, which gives what it has.
// SPDX-License-Identifier: Apache-2.0
#include "import/decompress.h"

#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <new>

namespace opscope {
namespace {

class GzipPieces : public PieceReader {
 public:
  explicit GzipPieces(std::span<const std::byte> bytes) : bytes_(bytes), whole_(libdeflate_alloc_decompressor()) {
    if (!whole_ || inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~GzipPieces() override { inflateEnd(&stream_); }

  bool Next(TextPiece* piece) override {
    while (!ended_) {
      if (between_members_ && at_ == bytes_.size()) break;
      if (between_members_ && ReadWholeMember(piece)) {
        if (piece->size != 0) return true;
        continue;
      }
      if (InflateSome(piece)) return true;
    }
    ended_ = true;
    return false;
  }

 private:
  // A member whose text fits into what is worth a try. Leaves everything as it was otherwise.
  bool ReadWholeMember(TextPiece* piece) {
    const std::span<const std::byte> rest = bytes_.subspan(at_);
    if (rest.size() < 18 || !tries_whole_) return false;
    const size_t capacity = CapacityFor(rest);
    *piece = NewPiece(capacity);
    size_t consumed = 0, produced = 0;
    const libdeflate_result result = libdeflate_gzip_decompress_ex(whole_.get(), rest.data(), rest.size(),
                                                                   piece->data.get(), capacity, &consumed, &produced);
    if (result != LIBDEFLATE_SUCCESS) {
      tries_whole_ = false;  // its neighbours will mostly be like it
      return false;
    }
    piece->size = produced;
    Advance(consumed);
    any_member_ = true;
    return true;
  }

  // The last four bytes are the size of the last member: mostly there is only one, or all are of one size.
  static size_t CapacityFor(std::span<const std::byte> rest) {
    constexpr size_t kMost = size_t{32} << 20, kUsual = size_t{2} << 20;
    uint32_t size_field = 0;
    std::memcpy(&size_field, rest.data() + rest.size() - 4, 4);
    // The size field may lie: nothing deflates better than 1032 to 1.
    const bool is_plausible = size_field / 1032 <= rest.size() && size_field <= kMost;
    return std::max<size_t>(is_plausible ? size_field : 0, kUsual);
  }

  // True: a piece; false: a member ended exactly here, or everything.
  bool InflateSome(TextPiece* piece) {
    *piece = NewPiece(kPieceBytes);
    stream_.next_out = reinterpret_cast<Bytef*>(piece->data.get());
    stream_.avail_out = static_cast<uInt>(kPieceBytes);
    const size_t step = std::min<size_t>(bytes_.size() - at_, size_t{1} << 30);
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes_.data() + at_));
    stream_.avail_in = static_cast<uInt>(step);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    Advance(step - stream_.avail_in);
    piece->size = kPieceBytes - stream_.avail_out;
    if (status == Z_STREAM_END) {
      inflateReset(&stream_);
      between_members_ = any_member_ = true;
    } else if (status != Z_OK) {
      ended_ = true;
      // Trailing bytes that are not another member are padding (tar and tape writers leave such).
      const bool is_padding = between_members_ && any_member_ && status != Z_BUF_ERROR;
      if (!is_padding) end_ = {static_cast<int64_t>(at_), status == Z_BUF_ERROR};
    } else {
      between_members_ = false;
    }
    return piece->size != 0;
  }

  void Advance(size_t bytes) {
    at_ += bytes;
    consumed_.store(at_, std::memory_order_relaxed);
  }

  struct FreeWhole {
    void operator()(libdeflate_decompressor* owned) const { libdeflate_free_decompressor(owned); }
  };
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  z_stream stream_{};
  std::unique_ptr<libdeflate_decompressor, FreeWhole> whole_;
  bool tries_whole_ = true;
  bool between_members_ = true;
  bool any_member_ = false;
  bool ended_ = false;
};

class ZstdPieces : public PieceReader {
 public:
  explicit ZstdPieces(std::span<const std::byte> bytes)
      : input_{bytes.data(), bytes.size(), 0}, stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

  bool Next(TextPiece* piece) override {
    if (ended_) return false;
    *piece = NewPiece(kPieceBytes);
    ZSTD_outBuffer output{piece->data.get(), kPieceBytes, 0};
    while (!ended_ && output.pos < output.size) {
      const size_t before = input_.pos, written = output.pos;
      const size_t pending = ZSTD_decompressStream(stream_.get(), &output, &input_);
      consumed_.store(input_.pos, std::memory_order_relaxed);
      if (ZSTD_getErrorCode(pending) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (ZSTD_isError(pending)) {
        end_ = {static_cast<int64_t>(before), false};
        ended_ = true;
      } else if (input_.pos == input_.size && output.pos < output.size && output.pos == written) {
        if (pending != 0) end_ = {static_cast<int64_t>(input_.size), true};
        ended_ = true;
      } else if (input_.pos == input_.size && pending == 0) {
        ended_ = true;
      }
    }
    piece->size = output.pos;
    return piece->size != 0;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* owned) const { ZSTD_freeDStream(owned); }
  };
  ZSTD_inBuffer input_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  bool ended_ = false;
};

}  // namespace

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

std::unique_ptr<PieceReader> Decompress(std::span<const std::byte> bytes, CompressedFormat format) {
  if (format == CompressedFormat::kZstd) return std::make_unique<ZstdPieces>(bytes);
  return std::make_unique<GzipPieces>(bytes);
}

}  // namespace opscope
