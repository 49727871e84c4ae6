// Reads `.opscope` files: walks the blocks (wire/container.h) and passes raw ones to RecordingReader and column blocks
// to ColumnTables. Several threads check and decompress the next blocks.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/thread_team.h"
#include "import/opscope/block_ahead.h"
#include "import/opscope/column_tables.h"
#include "import/opscope/importer.h"
#include "import/recording/overheads.h"
#include "import/recording/recording.h"
#include "wire/container.h"
#include "wire/trace_info.h"
#include "wire/zstd_contexts.h"

namespace opscope {
namespace {

class OpscopeFile {
 public:
  OpscopeFile(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
              TraceBuilder* builder)
      : bytes_(bytes),
        name_(name),
        options_(options),
        builder_(builder),
        team_(ThreadsFor(bytes, options)),
        tables_(builder, &team_),
        recording_(builder) {}

  Status Import() {
    OPSCOPE_TRY(CheckVersion());
    BlockScanner scanner(bytes_);
    ReadBlocks(&scanner);
    AddWaitingSpans();
    if (scanner.damaged_count() > 0 || scanner.truncated()) recording_.RecordDamage();
    if (recording_.has_blocks()) recording_.Finish(options_, bytes_.size() + kept_bytes_);
    if (scanner.damaged_count() > 0) CountDamage(scanner.first_damage(), scanner.damaged_count());
    const bool cut = !scanner.ended() && !over_limit_ && (scanner.truncated() || !recording_.not_ended());
    if (cut) builder_->AddProblem("truncated", static_cast<int64_t>(bytes_.size()));
    AddLostNames();
    tables_.Finish(!damaged_);
    if (builder_->empty() && (damaged_ || cut)) return NothingWhole(cut ? bytes_.size() : first_damage_);
    return {};
  }

 private:
  Status CheckVersion() {
    const FileVersion version = ReadFileVersion(bytes_);
    TraceInfo& info = builder_->info();
    info.format = "opscope";
    AppendUint(&info.format_version, version.major);
    info.format_version += '.';
    AppendUint(&info.format_version, version.minor);
    if (version.damaged) {
      CountDamage(sizeof(kFileMagic));
      return {};
    }
    if (version.major > kFormatMajor || version.major == 0) {
      return Error{ErrorCode::kUnsupported,
                   std::string(name_) + ": at byte 8: written in .opscope format " + info.format_version +
                       "; this version reads formats up to " + std::to_string(kFormatMajor) + ".x: use a newer opscope",
                   0};
    }
    if (version.minor > kFormatMinor)
      builder_->AddProblem("newer_minor_version", sizeof(kFileMagic), 1, "format " + info.format_version);
    return {};
  }

  // Starting a thread pays off from so many bytes of a file, which are ten times as many in memory.
  static size_t ThreadsFor(std::span<const std::byte> bytes, const ImportOptions& options) {
    constexpr size_t kBytesPerThread = size_t{256} << 10;
    if (options.max_threads != 0) return options.max_threads;
    return std::clamp<size_t>(bytes.size() / kBytesPerThread, 1, DefaultThreadCount());
  }

  void ReadBlocks(BlockScanner* scanner) {
    std::vector<BlockAhead> due(team_.size()), ahead(team_.size());
    size_t due_count = 0;
    do {
      const size_t count = TakeBlocks(scanner, &ahead);
      size_t added = 0;
      // While one thread adds the blocks that are due, the others prepare the next ones.
      team_.ForEach(count + 1, [&](size_t i, size_t) {
        if (i > 0) return ahead[i - 1].Read();
        added = AddBlocks(scanner, std::span(due).first(due_count), /*may_add_waiting=*/false);
      });
      AddBlocks(scanner, std::span(due).first(due_count).subspan(added), /*may_add_waiting=*/true);
      std::swap(due, ahead);
      due_count = count;
    } while (due_count > 0 && !over_limit_);
    if (!over_limit_) scanner->OnEnd();
  }

  static size_t TakeBlocks(BlockScanner* scanner, std::vector<BlockAhead>* blocks) {
    constexpr uint64_t kMaxBytes = uint64_t{32} << 20;  // decompressed
    size_t count = 0;
    for (uint64_t bytes = 0; count < blocks->size() && bytes < kMaxBytes; ++count) {
      if (!scanner->NextUndecoded(&(*blocks)[count].undecoded)) break;
      bytes += (*blocks)[count].undecoded.plain_bytes;
    }
    return count;
  }

  // Returns the number of blocks added. Without may_add_waiting it stops where waiting spans must be added, which needs
  // the team.
  size_t AddBlocks(BlockScanner* scanner, std::span<const BlockAhead> blocks, bool may_add_waiting) {
    for (size_t i = 0; i < blocks.size(); ++i) {
      const BlockAhead& block = blocks[i];
      if (over_limit_) return i;
      if (block.is_whole && !block.is_spans() && tables_.spans_wait()) {
        if (!may_add_waiting) return i;
        AddWaitingSpans();
      }
      scanner->OnDecoded(block.undecoded, block.is_whole);
      if (!block.is_whole) CountLost(block.undecoded);
      if (!block.is_whole || OverLimit(block.undecoded.end())) continue;
      if (AddBlock(block)) continue;
      CountLost(block.undecoded);
      CountDamage(static_cast<int64_t>(block.undecoded.offset));
    }
    return blocks.size();
  }

  void CountLost(const UndecodedBlock& block) {
    if (block.type == block_types::kStrings && names_lost_at_ < 0) names_lost_at_ = static_cast<int64_t>(block.offset);
  }

  // Reported in addition to the damage, because rows without texts would look like a fault of opscope.
  void AddLostNames() {
    if (!damaged_ || over_limit_) return;
    const uint64_t lost = std::max<uint64_t>(tables_.MissingTextsOf(texts_), names_lost_at_ < 0 ? 0 : 1);
    if (lost == 0) return;
    builder_->AddProblem("names_lost", names_lost_at_ < 0 ? static_cast<int64_t>(first_damage_) : names_lost_at_, lost);
  }

  void AddWaitingSpans() {
    std::vector<int64_t> damaged;
    tables_.AddWaitingSpans(&damaged);
    for (const int64_t offset : damaged)
      CountDamage(offset);
  }

  bool AddBlock(const BlockAhead& block) {
    switch (block.undecoded.type) {
      case block_types::kWindowInfo:
      case block_types::kRawChunk:
      case block_types::kLiveChunk:
        AddRaw(block);
        return true;
      case block_types::kStrings:
        return block.has_strings && tables_.AddStrings(block.strings.first_id, block.texts());
      case block_types::kTable:
        return tables_.AddTable({block.payload, IsInFile(block.payload), static_cast<int64_t>(block.undecoded.offset)});
      case block_types::kTraceInfo:
        return AddInfo(block.payload);
      default:
        return true;  // footer, end, and block types of newer versions
    }
  }

  bool IsInFile(std::span<const std::byte> payload) const {
    return payload.data() >= bytes_.data() && payload.data() < bytes_.data() + bytes_.size();
  }

  // Raw blocks are interpreted at the end of the file, so a decompressed payload must live until then.
  void AddRaw(const BlockAhead& block) {
    std::span<const std::byte> payload = block.payload;
    const bool in_file = IsInFile(payload);
    if (!in_file) {
      payload = kept_.emplace_back(payload.begin(), payload.end());
      kept_bytes_ += payload.size();
    }
    recording_.AddBlock(block.undecoded.type, payload,
                        in_file ? payload.data() - bytes_.data() : static_cast<int64_t>(block.undecoded.offset));
  }

  bool AddInfo(std::span<const std::byte> payload) {
    WireTraceInfo wire;
    if (!DecodeTraceInfo(payload, &wire)) return false;
    TraceInfo& info = builder_->info();
    info.recorded += wire.recorded;
    info.dropped += wire.dropped;
    info.epoch_ns = wire.epoch_ns;
    texts_ = std::max(texts_, wire.texts);
    info.options_json = wire.options_json;
    info.overheads = ParseOverheads(info.options_json);
    return true;
  }

  bool OverLimit(uint64_t offset) {
    if (options_.max_memory == 0) return false;
    if (builder_->memory_bytes() + tables_.memory_bytes() + bytes_.size() + kept_bytes_ <= options_.max_memory)
      return false;
    builder_->AddProblem("over_memory_limit", static_cast<int64_t>(offset));
    over_limit_ = true;
    return true;
  }

  void CountDamage(int64_t offset, uint64_t count = 1) {
    builder_->AddProblem("damaged_block", offset, count);
    if (!damaged_) first_damage_ = static_cast<uint64_t>(offset);
    damaged_ = true;
  }

  Error NothingWhole(uint64_t offset) const {
    return {ErrorCode::kMalformed,
            std::string(name_) + ": at byte " + std::to_string(offset) + ": damaged before the first whole event", 0};
  }

  std::span<const std::byte> bytes_;
  std::string_view name_;
  const ImportOptions& options_;
  TraceBuilder* builder_;
  ThreadTeam team_;
  ColumnTables tables_;
  RecordingReader recording_;
  std::deque<std::vector<std::byte>> kept_;  // decompressed raw blocks
  uint64_t kept_bytes_ = 0;                  // their total size
  bool damaged_ = false;
  bool over_limit_ = false;
  uint64_t first_damage_ = 0;
  uint64_t texts_ = 0;          // in the dictionary, according to the file
  int64_t names_lost_at_ = -1;  // offset of the first lost dictionary block
};

}  // namespace

Status ImportOpscope(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                     TraceBuilder* builder) {
  const ZstdContexts contexts;
  return OpscopeFile(bytes, name, options, builder).Import();
}

}  // namespace opscope
