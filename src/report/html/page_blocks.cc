// The blocks of memory over address and time. They come with the largest first, so what does not fit are the smallest
// ones, which the page counts. The chosen ones are written by begin, because columns of differences compress best where
// neighbours are alike: a program allocates at the same addresses in every step.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>

#include "base/json_object.h"
#include "base/saturating.h"
#include "opscope/report/memory.h"
#include "report/html/integer_column.h"
#include "report/html/page_parts.h"

namespace opscope {
namespace {

// Bits of the column "state".
constexpr int64_t kKeptBlock = 1, kBlockFromBefore = 2;

class BlockColumns {
 public:
  BlockColumns(const Trace& trace, PageStrings* strings) : trace_(trace), strings_(strings) {}

  void Add(const MemoryMapBlock& block, uint64_t base) {
    address_.Add(static_cast<int64_t>(block.address - base));
    bytes_.Add(block.bytes);
    start_.Add(block.begin_ns);
    duration_.Add(SaturatingSubtract(block.end_ns, block.begin_ns));
    state_.Add((block.is_kept ? kKeptBlock : 0) + (block.is_before ? kBlockFromBefore : 0));
    name_.Add(block.name == StringId::kNone ? strings_->Of(std::string_view()) : strings_->Of(block.name));
    category_.Add(strings_->Of(block.category));
    stack_.Add(StackNumber(block.stack));
  }

  void Append(JsonObject* object) const {
    address_.AppendJson(&object->Key("address"));
    bytes_.AppendJson(&object->Key("bytes"));
    start_.AppendJson(&object->Key("start"));
    duration_.AppendJson(&object->Key("duration"));
    state_.AppendJson(&object->Key("state"));
    name_.AppendJson(&object->Key("name"));
    category_.AppendJson(&object->Key("category"));
    stack_.AppendJson(&object->Key("stack"));
  }

 private:
  int64_t StackNumber(StackId stack) {
    if (stack == StackId::kNone) return 0;
    const auto found = stacks_.find(Row(stack));
    if (found != stacks_.end()) return found->second;
    return stacks_.emplace(Row(stack), strings_->Of(PageStackText(trace_, stack))).first->second;
  }

  const Trace& trace_;
  PageStrings* strings_;
  std::unordered_map<uint32_t, int64_t> stacks_;  // numbers of texts, by StackId
  IntegerColumn address_{IntegerColumn::kDeltas}, bytes_, start_{IntegerColumn::kDeltas}, duration_, state_, name_,
      category_, stack_;
};

// REQUIRES: most <= device.blocks.size()
void AppendDevice(const Trace& trace, const MemoryMapDevice& device, size_t most, PageStrings* strings,
                  std::string* out) {
  std::vector<const MemoryMapBlock*> chosen;
  int64_t left_out_bytes = device.left_out_bytes;
  uint64_t base = UINT64_MAX;
  for (size_t i = 0; i < device.blocks.size(); ++i) {
    const MemoryMapBlock& block = device.blocks[i];
    if (i >= most) {
      left_out_bytes = SaturatingAdd(left_out_bytes, block.bytes);
      continue;
    }
    chosen.push_back(&block);
    base = std::min(base, block.address);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const MemoryMapBlock* a, const MemoryMapBlock* b) {
    return std::tuple(a->begin_ns, a->address) < std::tuple(b->begin_ns, b->address);
  });
  if (chosen.empty()) base = 0;
  BlockColumns columns(trace, strings);
  for (const MemoryMapBlock* block : chosen)
    columns.Add(*block, base);
  JsonObject object(out);
  object.Uint("device", strings->Of(PageDeviceName(trace, device.place, device.track)));
  object.Text("base", std::to_string(base));
  columns.Append(&object);
  object.Uint("left_out", device.left_out + device.blocks.size() - chosen.size());
  AppendPageInteger(left_out_bytes, &object.Key("left_out_bytes"));
  object.Uint("without_address", device.without_address);
  object.Close();
}

}  // namespace

void AppendPageBlocks(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out) {
  constexpr size_t kMaxDevices = 200;  // the members of 1,000 devices without blocks take 0.5 MB
  const std::span<const MemoryMapDevice> all = results.memory_map;
  const std::span<const MemoryMapDevice> devices = all.first(std::min(kMaxDevices, all.size()));
  JsonMemberWriter members(out);
  members.Uint("blocks_left_out_devices", all.size() - devices.size());
  members.Key("blocks");
  const size_t begin = out->size();
  constexpr size_t kBytesPerBlock = 4;  // at least
  size_t most = devices.empty() ? 0 : max_bytes / kBytesPerBlock / devices.size();
  for (;;) {
    *out += '[';
    for (size_t i = 0; i < devices.size(); ++i) {
      if (i > 0) *out += ",\n";
      AppendDevice(*results.trace, devices[i], std::min(most, devices[i].blocks.size()), strings, out);
    }
    *out += ']';
    const size_t bytes = out->size() - begin + strings->uncommitted_bytes();
    if (bytes <= max_bytes || most == 0) break;
    strings->RollBack();
    out->resize(begin);
    most = std::min(most * 9 / 10, static_cast<size_t>(static_cast<double>(most) * static_cast<double>(max_bytes) /
                                                       static_cast<double>(bytes)));
  }
  strings->Commit();
}

}  // namespace opscope
