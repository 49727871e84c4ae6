// A record points to its payload, and the payload to its event, anywhere in memory: the walk waits for memory more than
// it computes. So both are prefetched some records ahead, the payload first.
// SPDX-License-Identifier: Apache-2.0
#include "sources/megengine/walk.h"

#include <algorithm>

#include "base/text.h"
#include "sources/megengine/computing_nodes.h"
#include "sources/megengine/device_event.h"
#include "sources/megengine/parameters.h"

namespace opscope::megengine {
namespace {

constexpr size_t kLargestEvent = 512;

constexpr ptrdiff_t kPayloadAhead = 24, kObjectAhead = 12;

void FetchAhead(const NativeRecord* record, const NativeRecord* end) {
  if (end - record <= kPayloadAhead) return;
  __builtin_prefetch(record[kPayloadAhead].payload);
  const NativeObject* const object = record[kObjectAhead].payload->object;
  __builtin_prefetch(object);
  __builtin_prefetch(reinterpret_cast<const char*>(object) + 64);
}

Error Unlike(const std::string& what) {
  return {ErrorCode::kUnsupported, "a record of MegEngine's is not laid out as known: " + what};
}

}  // namespace

Result<Walk::Type> Walk::LearnType(const NativeRecord& record) {
  Payload payload;
  NativeObject object;
  if (!memory_->Read(record.payload, &payload) || !memory_->Read(payload.object, &object)) {
    return Unlike("its payload");
  }
  const std::string text = ReadEventType(object.type, memory_);
  std::string_view name = text;
  if (!name.ends_with("Event")) return Unlike("the name of its type");
  name.remove_suffix(5);
  Type type{object.type, FindEventLayout(name)};
  if (type.layout == nullptr && name.ends_with("Finish")) {
    name.remove_suffix(6);
    type = {object.type, FindEventLayout(name), true};
  }
  if (type.layout == nullptr) return type;
  char body[kLargestEvent];
  const char* event = reinterpret_cast<const char*>(payload.object) + sizeof(NativeObject);
  const bool is_mapped = type.layout->bytes == 0 || memory_->Read(event, body, type.layout->bytes);
  if (!is_mapped || (type.layout->probe != nullptr && !type.layout->probe(this, body))) return Unlike(text);
  return type;
}

uint16_t Walk::DeviceNumber(const void* node) {
  const uint16_t known = writer_->NumberOfDevice(node);
  if (__builtin_expect(known != RecordWriter::kNoNumber, 1)) return known;
  return writer_->NumberDevice(node, NodeNames(node, memory_));
}

std::string_view Walk::Members(const NativeFunction& parameters) {
  members_.clear();
  if (parameters.manager == nullptr) return members_;
  parameters_.clear();
  const auto take = [](void* context, const char* key, size_t key_size, const char* value, size_t value_size) {
    static_cast<Walk*>(context)->parameters_.emplace_back(std::string(key, key_size), std::string(value, value_size));
  };
  if (!ReadParameters(&parameters, take, this)) CountFailed();
  std::sort(parameters_.begin(), parameters_.end());
  for (const auto& [key, value] : parameters_) {
    if (!members_.empty()) members_ += ", ";
    AppendJsonString(&members_, key);
    members_ += ": ";
    AppendJsonString(&members_, value);
  }
  return members_;
}

bool Walk::DeviceTime(void* event, uint16_t* device, int64_t* nanoseconds) {
  const void* node = DeviceOf(event);
  if (node == nullptr) return false;
  *device = DeviceNumber(node);
  return ElapsedBetween(first_events_.try_emplace(node, event).first->second, event, nanoseconds);
}

Status Walk::NumberThreads(const FoundBundle& bundle) {
  for (const auto& [thread, name] : bundle.threads) {
    if (writer_->NumberThread(thread, name) == RecordWriter::kNoNumber) return Unlike("it has too many threads");
  }
  return {};
}

Status Walk::Take(const FoundBundle& bundle) {
  first_events_.clear();
  writer_->Begin(bundle.start);
  OPSCOPE_TRY(NumberThreads(bundle));
  uint64_t last_thread = 0;
  uint16_t thread = RecordWriter::kNoNumber;
  Type type;
  for (const NativeRecord* record = bundle.begin; record != bundle.end; ++record) {
    FetchAhead(record, bundle.end);
    if (record->thread != last_thread || thread == RecordWriter::kNoNumber) {
      last_thread = record->thread;
      thread = writer_->NumberOfThread(last_thread);
      if (thread == RecordWriter::kNoNumber) return Unlike("its thread");
    }
    const void* native = record->payload->object->type;
    if (native != type.native) {
      const auto known = types_.find(native);
      if (known != types_.end()) {
        type = known->second;
      } else {
        const Result<Type> learnt = LearnType(*record);
        if (!learnt.ok()) return learnt.error();
        type = types_.emplace(native, learnt.value()).first->second;
      }
    }
    if (__builtin_expect(type.layout == nullptr, 0)) {
      ++unknown_;
      continue;
    }
    type.layout->write(this, RecordOf(type.layout->event, type.finish, record->time, thread),
                       reinterpret_cast<const char*>(record->payload->object) + sizeof(NativeObject));
  }
  return {};
}

}  // namespace opscope::megengine
