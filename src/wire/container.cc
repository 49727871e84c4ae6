// Finds blocks in a file that may be damaged anywhere. Header and payload have separate checksums: a header
// that is intact leads to the next block even if the payload is not. After a broken header the scanner
// searches for the next magic number and trusts it only if its header's checksum is right:
//
//   [block][block][xxxxxxxx][block]     2 blocks, 1 damaged stretch of any length, 1 block
//
// Sizes in a damaged file may be wrong, so memory is reserved only for a zstd frame that states the same size
// as the header and is long enough for it.
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

namespace {

constexpr size_t kHeaderCheckAt = 28;
constexpr int kZstdLevel = 3;

uint32_t CheckOf(const void* data, size_t size) {
  return static_cast<uint32_t>(XXH3_64bits(data, size));
}

// Appends one zstd frame. False if that would not be smaller; then it appends nothing.
bool AppendCompressed(std::string* out, std::string_view payload) {
  const size_t before = out->size(), bound = ZSTD_compressBound(payload.size());
  out->resize(before + bound);
  const PooledCompressor compressor =
      TakeCompressor();  // ZSTD_compressCCtx ignores its parameters, which are for planes
  const size_t size =
      ZSTD_compressCCtx(compressor.get(), out->data() + before, bound, payload.data(), payload.size(), kZstdLevel);
  ThrowIfOutOfMemory(size);
  const bool smaller = !ZSTD_isError(size) && size < payload.size();
  out->resize(before + (smaller ? size : 0));
  return smaller;
}

}  // namespace

bool LooksLikeOpscope(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof(kFileMagic) && std::memcmp(bytes.data(), kFileMagic, sizeof(kFileMagic)) == 0;
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

bool BlockScanner::ReadHeader(uint64_t offset, UndecodedBlock* block, uint32_t* stored_bytes) const {
  if (offset > file_.size() || file_.size() - offset < kBlockHeaderBytes) return false;
  const auto bytes = file_.subspan(offset, kBlockHeaderBytes);
  ByteReader reader(bytes);
  if (reader.Fixed<uint32_t>() != kBlockMagic) return false;
  block->type = reader.Fixed<uint16_t>();
  block->flags = reader.Fixed<uint16_t>();
  *stored_bytes = reader.Fixed<uint32_t>();
  block->plain_bytes = reader.Fixed<uint32_t>();
  block->checksum = reader.Fixed<uint64_t>();
  reader.Fixed<uint32_t>();
  return reader.Fixed<uint32_t>() == CheckOf(bytes.data(), kHeaderCheckAt);
}

bool ReadPayload(const UndecodedBlock& block, std::string* decompressed, std::span<const std::byte>* payload) {
  const auto stored = block.stored;
  *payload = stored;
  if ((block.flags & block_flags::kUnchecked) != 0) return (block.flags & block_flags::kZstd) == 0;
  if (XXH3_64bits(stored.data(), stored.size()) != block.checksum || block.plain_bytes > kMaxBlockBytes) return false;
  if ((block.flags & block_flags::kZstd) == 0) return true;
  // Before memory is reserved: the frame must state its size, and zstd cannot compress 128 KiB into fewer than 4 bytes.
  constexpr size_t kMaxRatio = (size_t{128} << 10) / 4;
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != block.plain_bytes) return false;
  if (block.plain_bytes / kMaxRatio > stored.size()) return false;
  decompressed->resize(block.plain_bytes);
  const PooledDecompressor decompressor = TakeDecompressor();
  const size_t size =
      ZSTD_decompressDCtx(decompressor.get(), decompressed->data(), decompressed->size(), stored.data(), stored.size());
  ThrowIfOutOfMemory(size);
  *payload = std::as_bytes(std::span(*decompressed));
  return size == block.plain_bytes;
}

void BlockScanner::Resynchronise() {
  const char* begin = reinterpret_cast<const char*>(file_.data());
  const std::string_view all(begin, file_.size());
  const size_t found = all.find(std::string_view("OBLK"), position_ + 1);
  position_ = found == std::string_view::npos ? file_.size() : found;
}

// True if the next eight bytes are unused space of a mapped file.
bool BlockScanner::AtUnusedSpace() const {
  const auto rest = file_.subspan(position_, std::min<size_t>(sizeof(uint64_t), file_.size() - position_));
  return mapped_ && std::all_of(rest.begin(), rest.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

bool BlockScanner::NextUndecoded(UndecodedBlock* block) {
  while (position_ < file_.size()) {
    if (!is_resynchronising_ && AtUnusedSpace()) {
      Resynchronise();
      continue;
    }
    uint32_t stored_bytes = 0;
    if (!is_resynchronising_ && file_.size() - position_ < kBlockHeaderBytes) break;
    if (!ReadHeader(position_, block, &stored_bytes)) {
      // A damaged stretch counts once, however many blocks were in it.
      if (!is_resynchronising_ && pending_damage_++ == 0) pending_first_ = static_cast<int64_t>(position_);
      is_resynchronising_ = true;
      Resynchronise();
      continue;
    }
    is_resynchronising_ = false;
    mapped_ = mapped_ || (block->flags & (block_flags::kMapped | block_flags::kUnchecked)) != 0;
    if (stored_bytes > file_.size() - position_ - kBlockHeaderBytes) break;
    block->offset = position_;
    block->stored = file_.subspan(position_ + kBlockHeaderBytes, stored_bytes);
    block->damage_before = pending_damage_;
    block->first_damage = pending_first_;
    pending_damage_ = 0;
    pending_first_ = -1;
    position_ = block->end();
    return true;
  }
  pending_cut_ = pending_cut_ || position_ < file_.size();
  position_ = file_.size();
  return false;
}

void BlockScanner::AddDamage(uint64_t count, int64_t first) {
  if (count > 0 && first_damage_ < 0) first_damage_ = first;
  damaged_count_ += count;
}

void BlockScanner::OnDecoded(const UndecodedBlock& block, bool is_intact) {
  AddDamage(block.damage_before, block.first_damage);
  if (!is_intact) AddDamage(1, static_cast<int64_t>(block.offset));
  ended_ = is_intact && block.type == block_types::kEnd;
}

void BlockScanner::OnEnd() {
  if (pending_damage_ > 0 || pending_cut_) ended_ = false;
  AddDamage(pending_damage_, pending_first_);
  truncated_ = truncated_ || pending_cut_;
  pending_damage_ = 0;
}

bool BlockScanner::Next(Block* block) {
  UndecodedBlock undecoded;
  while (NextUndecoded(&undecoded)) {
    const bool is_intact = ReadPayload(undecoded, &decompressed_, &block->payload);
    OnDecoded(undecoded, is_intact);
    if (!is_intact) continue;
    block->type = undecoded.type;
    block->offset = undecoded.offset;
    return true;
  }
  OnEnd();
  return false;
}

}  // namespace opscope
