// Members of gzip that are small go through libdeflate, which is two to three times as fast as zlib but knows only
// "all or nothing"; large ones, cut ones and damaged ones go through zlib, which gives what it has.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/decompress.h"

#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace opscope {
namespace {

constexpr size_t kStep = size_t{256} << 10;  // of compressed bytes
constexpr std::string_view kGzipMagic = "\x1f\x8b";

class Decompressor : public PieceReader {
 public:
  explicit Decompressor(std::unique_ptr<TextSource> compressed) : compressed_(std::move(compressed)) {}

  bool Next(TextPiece* piece) final {
    const bool more = !ended_ && Make(piece);
    ended_ = ended_ || !more;
    held_.store(compressed_->memory_bytes(), std::memory_order_relaxed);
    return more;
  }

 protected:
  // As Next.
  virtual bool Make(TextPiece* piece) = 0;

  // The next compressed bytes, at least so many unless they end.
  std::string_view Look(size_t size) {
    compressed_->Extend(size);
    return compressed_->text();
  }
  bool is_last() const { return compressed_->ended(); }  // what Look gave
  uint64_t offset() const { return compressed_->offset(); }
  void Advance(size_t bytes) {
    static_cast<void>(compressed_->Take(bytes));
    consumed_.store(offset(), std::memory_order_relaxed);
  }
  void EndAt(uint64_t offset, bool cut) { end_ = {static_cast<int64_t>(offset), cut}; }

  bool ended_ = false;  // nothing can be read any more

 private:
  const std::unique_ptr<TextSource> compressed_;
};

class GzipPieces : public Decompressor {
 public:
  explicit GzipPieces(std::unique_ptr<TextSource> compressed)
      : Decompressor(std::move(compressed)), whole_(libdeflate_alloc_decompressor()) {
    if (!whole_ || inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~GzipPieces() override { inflateEnd(&stream_); }

 private:
  bool Make(TextPiece* piece) override {
    while (!ended_) {
      if (between_members_ && !HasMember()) return false;
      if (between_members_ && ReadWholeMember(piece)) {
        if (piece->size != 0) return true;
        continue;
      }
      if (InflateSome(piece)) return true;
    }
    return false;
  }

  // Whether another member follows. Other bytes behind a member are padding (tar and tape writers leave such).
  bool HasMember() {
    const std::string_view rest = Look(kGzipMagic.size()).substr(0, kGzipMagic.size());
    return !rest.empty() && (!any_member_ || kGzipMagic.starts_with(rest));
  }

  // A member that fits into what is worth a try. Leaves everything as it was otherwise.
  bool ReadWholeMember(TextPiece* piece) {
    constexpr size_t kMaxSize = size_t{4} << 20;
    if (!tries_whole_) return false;
    const std::string_view rest = Look(kMaxSize);
    if (rest.size() < 18) return false;
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
  size_t CapacityFor(std::string_view rest) const {
    constexpr size_t kMaxSize = size_t{32} << 20, kUsual = size_t{2} << 20;
    uint32_t size_field = 0;
    if (is_last()) std::memcpy(&size_field, rest.data() + rest.size() - 4, 4);
    // The size field may lie: nothing deflates better than 1032 to 1.
    const bool is_plausible = size_field / 1032 <= rest.size() && size_field <= kMaxSize;
    return std::max<size_t>(is_plausible ? size_field : 0, kUsual);
  }

  // True: a piece; false: a member ended exactly here, or everything.
  bool InflateSome(TextPiece* piece) {
    *piece = NewPiece(kPieceBytes);
    stream_.next_out = reinterpret_cast<Bytef*>(piece->data.get());
    stream_.avail_out = static_cast<uInt>(kPieceBytes);
    int status = Z_OK;
    while (status == Z_OK && stream_.avail_out != 0) {
      const std::string_view input = Look(kStep).substr(0, kStep);
      stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input.data()));
      stream_.avail_in = static_cast<uInt>(input.size());
      status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      Advance(input.size() - stream_.avail_in);
      if (status != Z_OK && status != Z_STREAM_END) EndAt(offset(), status == Z_BUF_ERROR);
      between_members_ = false;
    }
    piece->size = kPieceBytes - stream_.avail_out;
    if (status == Z_STREAM_END) {
      inflateReset(&stream_);
      between_members_ = any_member_ = true;
    }
    ended_ = status != Z_OK && status != Z_STREAM_END;
    return piece->size != 0;
  }

  struct FreeWhole {
    void operator()(libdeflate_decompressor* owned) const { libdeflate_free_decompressor(owned); }
  };
  z_stream stream_{};
  std::unique_ptr<libdeflate_decompressor, FreeWhole> whole_;
  bool tries_whole_ = true;
  bool between_members_ = true;
  bool any_member_ = false;
};

class ZstdPieces : public Decompressor {
 public:
  explicit ZstdPieces(std::unique_ptr<TextSource> compressed)
      : Decompressor(std::move(compressed)), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

 private:
  bool Make(TextPiece* piece) override {
    *piece = NewPiece(kPieceBytes);
    ZSTD_outBuffer output{piece->data.get(), kPieceBytes, 0};
    while (!ended_ && output.pos < output.size)
      DecompressSome(&output);
    piece->size = output.pos;
    return piece->size != 0;
  }

  void DecompressSome(ZSTD_outBuffer* output) {
    const std::string_view bytes = Look(kStep);
    if (is_between_frames_ && bytes.empty()) {  // the end of the last frame was not known to be that of the input
      ended_ = true;
      return;
    }
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    const bool was_last = is_last();
    const uint64_t before = offset();
    const size_t written = output->pos;
    const size_t pending = ZSTD_decompressStream(stream_.get(), output, &input);
    Advance(input.pos);
    if (ZSTD_getErrorCode(pending) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    is_between_frames_ = pending == 0;
    const bool is_through = was_last && input.pos == input.size;
    const bool is_starved = is_through && output->pos < output->size && output->pos == written;
    if (ZSTD_isError(pending)) {
      EndAt(before, false);
    } else if (is_starved && pending != 0) {
      EndAt(offset(), true);
    }
    ended_ = ZSTD_isError(pending) || is_starved || (is_through && pending == 0);
  }

  struct Free {
    void operator()(ZSTD_DStream* owned) const { ZSTD_freeDStream(owned); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  bool is_between_frames_ = true;
};

}  // namespace

CompressedFormat DetectCompression(std::span<const std::byte> bytes) {
  const std::string_view head = AsText(bytes);
  if (head.starts_with(kGzipMagic)) return CompressedFormat::kGzip;
  if (head.starts_with("\x28\xb5\x2f\xfd")) return CompressedFormat::kZstd;
  // A frame that readers skip, of 16 numbers: pzstd writes one before each of its frames.
  const bool is_skippable = head.size() >= 4 && (head[0] & 0xf0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18";
  return is_skippable ? CompressedFormat::kZstd : CompressedFormat::kNone;
}

std::unique_ptr<PieceReader> Decompress(std::unique_ptr<TextSource> compressed, CompressedFormat format) {
  if (format == CompressedFormat::kZstd) return std::make_unique<ZstdPieces>(std::move(compressed));
  return std::make_unique<GzipPieces>(std::move(compressed));
}

}  // namespace opscope
