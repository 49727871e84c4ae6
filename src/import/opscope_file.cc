// `.opscope` files: walks the blocks (wire/container.h) and gives raw ones to RecordingReader, column
// ones to ColumnTables.
// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <string>

#include "base/text.h"
#include "import/column_tables.h"
#include "import/importer.h"
#include "import/own_costs.h"
#include "import/recording.h"
#include "wire/container.h"
#include "wire/trace_info.h"
#include "wire/zstd_contexts.h"

namespace opscope {
namespace {

class OpscopeFile {
 public:
  OpscopeFile(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
              TraceBuilder* builder)
      : bytes_(bytes), name_(name), options_(options), builder_(builder), tables_(builder), recording_(builder) {}

  Status Import() {
    OPSCOPE_TRY(CheckVersion());
    BlockScanner scanner(bytes_);
    Block block;
    while (scanner.Next(&block)) {
      if (OverLimit(scanner)) break;
      if (!AddBlock(block)) CountDamage(static_cast<int64_t>(block.offset));
    }
    if (scanner.damaged_count() > 0 || scanner.truncated()) recording_.NoteDamage();
    if (recording_.has_blocks()) recording_.Finish(options_, bytes_.size());
    if (scanner.damaged_count() > 0) CountDamage(scanner.first_damage(), scanner.damaged_count());
    const bool cut = !scanner.ended() && !over_limit_ && (scanner.truncated() || !recording_.not_ended());
    if (cut) builder_->AddProblem("truncated", static_cast<int64_t>(bytes_.size()));
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

  bool AddBlock(const Block& block) {
    switch (block.type) {
      case block_types::kWindowInfo:
      case block_types::kRawChunk:
      case block_types::kLiveChunk:
        AddRaw(block);
        return true;
      case block_types::kStrings:
        return tables_.AddStrings(block.payload);
      case block_types::kTable:
        return tables_.AddTable(block.payload);
      case block_types::kTraceInfo:
        return AddInfo(block.payload);
      default:
        return true;  // footer, end, and types of newer versions
    }
  }

  // Raw blocks are read at the end; what was decompressed for this block alone must be kept till then.
  void AddRaw(const Block& block) {
    std::span<const std::byte> payload = block.payload;
    const bool in_file = payload.data() >= bytes_.data() && payload.data() < bytes_.data() + bytes_.size();
    if (!in_file) payload = kept_.emplace_back(payload.begin(), payload.end());
    recording_.AddBlock(block.type, payload,
                        in_file ? payload.data() - bytes_.data() : static_cast<int64_t>(block.offset));
  }

  bool AddInfo(std::span<const std::byte> payload) {
    WireTraceInfo wire;
    if (!DecodeTraceInfo(payload, &wire)) return false;
    TraceInfo& info = builder_->info();
    info.recorded += wire.recorded;
    info.dropped += wire.dropped;
    info.epoch_ns = wire.epoch_ns;
    info.options_json = wire.options_json;
    info.own_costs = ParseOwnCosts(info.options_json);
    return true;
  }

  bool OverLimit(const BlockScanner& scanner) {
    if (options_.max_memory == 0 || builder_->memory_bytes() + bytes_.size() <= options_.max_memory) return false;
    builder_->AddProblem("over_memory_limit", static_cast<int64_t>(scanner.position()));
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
  ColumnTables tables_;
  RecordingReader recording_;
  std::deque<std::vector<std::byte>> kept_;
  bool damaged_ = false;
  bool over_limit_ = false;
  uint64_t first_damage_ = 0;
};

}  // namespace

Status ImportOpscope(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                     TraceBuilder* builder) {
  const ZstdContexts contexts;
  return OpscopeFile(bytes, name, options, builder).Import();
}

}  // namespace opscope
