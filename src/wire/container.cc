// SPDX-License-Identifier: Apache-2.0
#include "wire/container.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "base/varint.h"
#include "wire/zstd_contexts.h"
#include "wire/zstd_memory.h"

namespace opscope {

struct BlockScanner::Header {
  uint16_t type = 0;
  uint16_t flags = 0;
  uint32_t stored_bytes = 0;
  uint32_t plain_bytes = 0;
  uint64_t checksum = 0;
};

namespace {

constexpr size_t kHeaderCheckAt = 28;
constexpr size_t kEndBlockBytes = kBlockHeaderBytes + sizeof(uint64_t);
constexpr int kZstdLevel = 3;

uint32_t CheckOf(const void* data, size_t size) {
  return static_cast<uint32_t>(XXH3_64bits(data, size));
}

// Appends one zstd frame, or nothing when that is not smaller.
bool AppendCompressed(std::string* out, std::string_view payload) {
  const size_t before = out->size(), bound = ZSTD_compressBound(payload.size());
  out->resize(before + bound);
  const LentCompressor compressor;  // its own settings are for planes and stay as they are
  const size_t size =
      ZSTD_compressCCtx(compressor.get(), out->data() + before, bound, payload.data(), payload.size(), kZstdLevel);
  ThrowIfShortOfMemory(size);
  const bool smaller = !ZSTD_isError(size) && size < payload.size();
  out->resize(before + (smaller ? size : 0));
  return smaller;
}

}  // namespace

bool LooksLikeOpscope(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof(kFileMagic) && std::memcmp(bytes.data(), kFileMagic, sizeof(kFileMagic)) == 0;
}

bool MayChange(std::span<const std::byte> file) {
  if (!LooksLikeOpscope(file) || file.size() < kFileHeaderBytes + kBlockHeaderBytes) return false;
  BlockHeader block;
  std::memcpy(&block, file.data() + kFileHeaderBytes, sizeof(block));
  if (block.magic != kBlockMagic || (block.flags & block_flags::kMapped) == 0) return false;
  std::memcpy(&block, file.data() + file.size() - kEndBlockBytes, sizeof(block));
  return block.magic != kBlockMagic || block.type != block_types::kEnd;
}

void AppendFileHeader(std::string* out, uint16_t major, uint16_t minor) {
  std::string header(kFileMagic, sizeof(kFileMagic));
  AppendFixed(&header, major);
  AppendFixed(&header, minor);
  AppendFixed(&header, CheckOf(header.data(), header.size()));
  out->append(header);
}

uint64_t AppendBlock(std::string* out, uint16_t type, std::string_view payload, bool compress) {
  const uint64_t offset = out->size();
  out->append(kBlockHeaderBytes, '\0');
  const bool compressed = compress && AppendCompressed(out, payload);
  if (!compressed) out->append(payload);
  const std::string_view stored = std::string_view(*out).substr(offset + kBlockHeaderBytes);
  std::string header;
  AppendFixed(&header, kBlockMagic);
  AppendFixed(&header, type);
  AppendFixed(&header, compressed ? block_flags::kZstd : uint16_t{0});
  AppendFixed(&header, static_cast<uint32_t>(stored.size()));
  AppendFixed(&header, static_cast<uint32_t>(payload.size()));
  AppendFixed(&header, static_cast<uint64_t>(XXH3_64bits(stored.data(), stored.size())));
  AppendFixed(&header, uint32_t{0});
  AppendFixed(&header, CheckOf(header.data(), kHeaderCheckAt));
  out->replace(offset, kBlockHeaderBytes, header);
  return offset;
}

void AppendEnd(std::string* out, uint64_t footer_offset) {
  std::string payload;
  AppendFixed(&payload, footer_offset);
  AppendBlock(out, block_types::kEnd, payload);
}

FileVersion ReadFileVersion(std::span<const std::byte> bytes) {
  ByteReader reader(bytes.subspan(sizeof(kFileMagic)));
  FileVersion version;
  version.major = reader.Fixed<uint16_t>();
  version.minor = reader.Fixed<uint16_t>();
  const auto check = reader.Fixed<uint32_t>();
  version.damaged = !reader.ok() || check != CheckOf(bytes.data(), sizeof(kFileMagic) + 4);
  return version;
}

BlockScanner::BlockScanner(std::span<const std::byte> file, uint64_t position)
    : file_(file), position_(std::min<uint64_t>(position, file.size())) {
}

bool BlockScanner::ReadHeader(uint64_t offset, Header* header) const {
  if (offset > file_.size() || file_.size() - offset < kBlockHeaderBytes) return false;
  const auto bytes = file_.subspan(offset, kBlockHeaderBytes);
  ByteReader reader(bytes);
  if (reader.Fixed<uint32_t>() != kBlockMagic) return false;
  header->type = reader.Fixed<uint16_t>();
  header->flags = reader.Fixed<uint16_t>();
  header->stored_bytes = reader.Fixed<uint32_t>();
  header->plain_bytes = reader.Fixed<uint32_t>();
  header->checksum = reader.Fixed<uint64_t>();
  reader.Fixed<uint32_t>();
  return reader.Fixed<uint32_t>() == CheckOf(bytes.data(), kHeaderCheckAt);
}

bool BlockScanner::ReadPayload(const Header& header, Block* block) {
  const auto stored = file_.subspan(block->offset + kBlockHeaderBytes, header.stored_bytes);
  block->payload = stored;
  if ((header.flags & block_flags::kUnchecked) != 0) return (header.flags & block_flags::kZstd) == 0;
  if (XXH3_64bits(stored.data(), stored.size()) != header.checksum || header.plain_bytes > kMaxBlockBytes) return false;
  if ((header.flags & block_flags::kZstd) == 0) return true;
  // Only a frame that says its own size is trusted with memory: a lying header costs nothing.
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != header.plain_bytes) return false;
  decompressed_.resize(header.plain_bytes);
  const size_t size = ZSTD_decompress(decompressed_.data(), decompressed_.size(), stored.data(), stored.size());
  ThrowIfShortOfMemory(size);
  block->payload = std::as_bytes(std::span(decompressed_));
  return size == header.plain_bytes;
}

// A damaged stretch counts once, however many blocks were in it.
void BlockScanner::CountDamage() {
  ++damaged_count_;
  if (first_damage_ < 0) first_damage_ = static_cast<int64_t>(position_);
}

void BlockScanner::Resynchronise() {
  const char* begin = reinterpret_cast<const char*>(file_.data());
  const std::string_view all(begin, file_.size());
  const size_t found = all.find(std::string_view("OBLK"), position_ + 1);
  position_ = found == std::string_view::npos ? file_.size() : found;
}

// In a file that was mapped: space that was not used.
bool BlockScanner::AtUnusedSpace() const {
  const auto rest = file_.subspan(position_, std::min<size_t>(sizeof(uint64_t), file_.size() - position_));
  return mapped_ && std::all_of(rest.begin(), rest.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

bool BlockScanner::Truncated() {
  truncated_ = true;
  ended_ = false;
  position_ = file_.size();
  return false;
}

bool BlockScanner::Next(Block* block) {
  while (position_ < file_.size()) {
    Header header;
    if (!lost_ && AtUnusedSpace()) {
      Resynchronise();
      continue;
    }
    if (!lost_ && file_.size() - position_ < kBlockHeaderBytes) return Truncated();
    if (!ReadHeader(position_, &header)) {
      if (!lost_) CountDamage();
      lost_ = true;
      ended_ = false;
      Resynchronise();
      continue;
    }
    lost_ = false;
    mapped_ = mapped_ || (header.flags & (block_flags::kMapped | block_flags::kUnchecked)) != 0;
    block->offset = position_;
    block->type = header.type;
    if (header.stored_bytes > file_.size() - position_ - kBlockHeaderBytes) {
      return Truncated();
    }
    const bool whole = ReadPayload(header, block);
    if (!whole) CountDamage();
    position_ += kBlockHeaderBytes + header.stored_bytes;
    ended_ = whole && header.type == block_types::kEnd;
    if (whole) return true;
  }
  return false;
}

}  // namespace opscope
