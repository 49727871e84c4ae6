// cuptiActivity*: what is recorded, and the buffers.
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "buffers.h"
#include "calls.h"
#include "entry.h"
#include "gpu.h"
#include "records.h"
#include "session.h"

namespace fake {
namespace {

using cupti::ActivityKind;
using cupti::Result;

Result ActivityRegisterCallbacks(cupti::BufferRequested requested, cupti::BufferCompleted completed) {
  CALL(ActivityRegisterCallbacks, Function::kWithoutDriver, -1);
  if (requested == nullptr || completed == nullptr) return call.Return(Result::kInvalidParameter);
  const Locked lock(function.name);
  Session& session = TheSession();
  if (session.holder == Holder::kRecording) Violation("took_holders_callbacks", function.name);
  session.has_registered = true;
  SetBufferUser({requested, completed, false});
  return call.Return(Result::kSuccess);
}

Result Enable(Call& call, const Function& function, ActivityKind kind, bool dump) {
  Locked lock(function.name);
  if (!IsKindOf(Now(), kind)) return call.Return(Result::kInvalidKind);
  Session& session = TheSession();
  if (kind == ActivityKind::kKernel) Violation("kernels_serialised", function.name);
  const bool was_enabled = (session.tool_kinds & Bit(kind)) != 0;
  session.tool_kinds |= Bit(kind);
  if (dump && !was_enabled && session.has_registered) {
    if (kind == ActivityKind::kDevice) DumpDevices();
    if (kind == ActivityKind::kContext) DumpContexts();
    if (kind == ActivityKind::kStream) DumpStreams();
  }
  return call.Return(Result::kSuccess);
}

Result ActivityEnable(ActivityKind kind) {
  CALL(ActivityEnable, Function::kPlain, kind);
  return Enable(call, function, kind, false);
}

Result ActivityEnableAndDump(ActivityKind kind) {
  CALL(ActivityEnableAndDump, Function::kPlain, kind);
  return Enable(call, function, kind, true);
}

Result ActivityDisable(ActivityKind kind) {
  CALL(ActivityDisable, Function::kPlain, kind);
  Locked lock(function.name);
  if (!IsKindOf(Now(), kind)) return call.Return(Result::kInvalidKind);
  Session& session = TheSession();
  if ((session.holder_kinds & Bit(kind)) != 0) {
    Violation("disabled_holders_kind", function.name);
    session.holder_kinds &= ~Bit(kind);
  }
  const bool was_last = session.tool_kinds == Bit(kind);
  session.tool_kinds &= ~Bit(kind);
  if (was_last && Now().after_disable != 0) RunAfterTheEnd(Now().after_disable);
  return call.Return(Result::kSuccess);
}

Result ActivityFlushAll(std::uint32_t flag) {
  CALL(ActivityFlushAll, Function::kPlain, flag);
  Locked lock(function.name);
  if (!TheSession().has_registered) {
    Violation("flushed_before_callbacks", function.name);
    return call.Return(Result::kInvalidOperation);
  }
  Collect((flag & cupti::kFlushForced) != 0);
  FlushBuffers(lock);
  return call.Return(Result::kSuccess);
}

Result ActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_size, cupti::Activity** record) {
  CALL(ActivityGetNextRecord, kAnywhere | Function::kQuiet, -1);
  return NextRecord(Now(), buffer, valid_size, record);
}

Result ActivityGetNumDroppedRecords(cupti::CudaContext, std::uint32_t, std::size_t* dropped) {
  CALL(ActivityGetNumDroppedRecords, kAnywhere, -1);
  if (dropped == nullptr) return call.Return(Result::kInvalidParameter);
  if (!Now().has_driver && Now().api < 28) return call.Return(Result::kNotInitialized);
  const Locked lock(function.name);
  *dropped = TakeDropped();
  return call.Return(Result::kSuccess);
}

Result SetThreadIdType(cupti::ThreadIdType type) {
  CALL(SetThreadIdType, Function::kPlain, type);
  const Locked lock(function.name);
  TheSession().thread_id_type = type;
  return call.Return(Result::kSuccess);
}

Result ActivityPushExternalCorrelationId(cupti::ExternalCorrelationKind kind, std::uint64_t id) {
  CALL(ActivityPushExternalCorrelationId, Function::kQuiet, kind);
  if (static_cast<std::uint32_t>(kind) - 1 >= 5) return Result::kInvalidParameter;
  PushExternalId(kind, id);
  return Result::kSuccess;
}

Result ActivityPopExternalCorrelationId(cupti::ExternalCorrelationKind kind, std::uint64_t* last_id) {
  CALL(ActivityPopExternalCorrelationId, Function::kQuiet, kind);
  if (static_cast<std::uint32_t>(kind) - 1 >= 5) return Result::kInvalidParameter;
  return PopExternalId(kind, last_id) ? Result::kSuccess : Result::kQueueEmpty;
}

Result ActivityEnableCudaEventDeviceTimestamps(std::uint8_t enable) {
  CALL(ActivityEnableCudaEventDeviceTimestamps, Function::kPlain, enable);
  const Locked lock(function.name);
  TheSession().event_timestamps = enable != 0;
  return call.Return(Result::kSuccess);
}

Result ActivityGetEnabledKinds(cupti::Subscriber subscriber, ActivityKind* kinds, std::uint32_t* size,
                               std::uint32_t* count) {
  CALL(ActivityGetEnabledKinds, Function::kPlain, -1);
  if (count == nullptr || (kinds != nullptr && size == nullptr)) return call.Return(Result::kInvalidParameter);
  const Locked lock(function.name);
  const Session& session = TheSession();
  if (subscriber != nullptr && !IsSubscriber(subscriber)) return call.Return(Result::kInvalidParameter);
  const std::uint64_t enabled = session.tool_kinds | (subscriber == nullptr ? session.holder_kinds : 0);
  *count = static_cast<std::uint32_t>(std::popcount(enabled));
  std::uint32_t written = 0;
  for (std::uint32_t kind = 0; kind < 64 && kinds != nullptr && written < *size; ++kind) {
    if ((enabled >> kind & 1) != 0) kinds[written++] = static_cast<ActivityKind>(kind);
  }
  return call.Return(Result::kSuccess);
}

}  // namespace
}  // namespace fake

EXPORT(ActivityRegisterCallbacks)
EXPORT(ActivityEnable)
EXPORT(ActivityEnableAndDump)
EXPORT(ActivityDisable)
EXPORT(ActivityFlushAll)
EXPORT(ActivityGetNextRecord)
EXPORT(ActivityGetNumDroppedRecords)
EXPORT(SetThreadIdType)
EXPORT(ActivityPushExternalCorrelationId)
EXPORT(ActivityPopExternalCorrelationId)
EXPORT(ActivityEnableCudaEventDeviceTimestamps)
EXPORT(ActivityGetEnabledKinds)
