// The other functions of CUPTI: version, names, time, the subscription and its callbacks, and what a tool must not
// call.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "entry.h"
#include "names.h"
#include "session.h"

namespace fake {
namespace {

using cupti::Result;

Result GetVersion(std::uint32_t* version) {
  CALL(GetVersion, kAnywhere, -1);
  if (version == nullptr) return call.Return(Result::kInvalidParameter);
  *version = Now().api;
  return call.Return(Result::kSuccess);
}

Result GetResultString(Result result, const char** name) {
  CALL(GetResultString, kAnywhere | Function::kQuiet, result);
  *name = NameOfResult(result);
  if (*name != nullptr) return Result::kSuccess;
  *name = "<unknown>";
  return Result::kInvalidParameter;
}

Result GetTimestamp(std::uint64_t* timestamp) {
  CALL(GetTimestamp, kAnywhere | Function::kQuiet, -1);
  if (timestamp == nullptr) return Result::kInvalidParameter;
  *timestamp = Timestamp();
  return Result::kSuccess;
}

Result GetCallbackName(cupti::CallbackDomain domain, std::uint32_t cbid, const char** name) {
  CALL(GetCallbackName, kAnywhere | Function::kQuiet, cbid);
  const char* const found = NameOfCall(domain, cbid);
  if (found == nullptr || name == nullptr) return Result::kInvalidParameter;
  *name = found;
  return Result::kSuccess;
}

Result TakeSubscription(Call& call, const Function& function, cupti::Subscriber* subscriber,
                        cupti::CallbackFunction callback, void* user_data, cupti::SubscriberParams* params) {
  static constexpr char kHolder[] = "simulated_holder";
  const Locked lock(function.name);
  Session& session = TheSession();
  if (session.holder != Holder::kNone || session.has_subscribed) {
    if (params != nullptr && params->old_subscriber_name != nullptr && params->old_subscriber_size > 0) {
      const char* const name = session.has_subscribed ? "the tool itself" : kHolder;
      std::strncpy(params->old_subscriber_name, name, params->old_subscriber_size - 1);
      params->old_subscriber_name[params->old_subscriber_size - 1] = '\0';
    }
    return call.Return(Result::kMultipleSubscribersNotSupported);
  }
  if (subscriber == nullptr) return call.Return(Result::kInvalidParameter);
  session.has_subscribed = true;
  session.user_data = user_data;
  session.callback = callback;
  *subscriber = reinterpret_cast<cupti::Subscriber>(&session);
  return call.Return(Result::kSuccess);
}

Result Subscribe(cupti::Subscriber* subscriber, cupti::CallbackFunction callback, void* user_data) {
  CALL(Subscribe, Function::kPlain, -1);
  return TakeSubscription(call, function, subscriber, callback, user_data, nullptr);
}

Result Subscribe_v2(cupti::Subscriber* subscriber, cupti::CallbackFunction callback, void* user_data,
                    cupti::SubscriberParams* params) {
  CALL(Subscribe_v2, Function::kPlain, -1);
  // 32 bytes in 13.0 and 13.1.
  if (params != nullptr && (params->struct_size < 32 || params->struct_size > sizeof(cupti::SubscriberParams))) {
    Violation("wrong_struct_size", function.name);
    return call.Return(Result::kInvalidParameter);
  }
  if (params != nullptr && params->subscriber_name != nullptr && std::strlen(params->subscriber_name) > 52) {
    Violation("subscriber_name_too_long", function.name);
  }
  return TakeSubscription(call, function, subscriber, callback, user_data, params);
}

Result Unsubscribe(cupti::Subscriber subscriber) {
  CALL(Unsubscribe, Function::kPlain, -1);
  const Locked lock(function.name);
  Session& session = TheSession();
  if (!IsSubscriber(subscriber)) {
    Violation("unsubscribed_a_stranger", function.name);
    return call.Return(Result::kInvalidParameter);
  }
  session.has_subscribed = false;
  session.callback = nullptr;
  session.callbacks.clear();
  return call.Return(Result::kSuccess);
}

Result EnableCallback(std::uint32_t enable, cupti::Subscriber subscriber, cupti::CallbackDomain domain,
                      std::uint32_t cbid) {
  CALL(EnableCallback, Function::kPlain, cbid);
  const Locked lock(function.name);
  if (!IsSubscriber(subscriber)) return call.Return(Result::kInvalidParameter);
  if (enable != 0) {
    TheSession().callbacks.insert({domain, cbid});
  } else {
    TheSession().callbacks.erase({domain, cbid});
  }
  return call.Return(Result::kSuccess);
}

// Functions that a tool of the Activity API must not call: CUPTI does not support them beside it, or they end CUPTI for
// the whole process.
#define FORBIDDEN(NAME)                             \
  Result NAME() {                                   \
    CALL(NAME, Function::kPlain, -1);               \
    Violation("forbidden_function", function.name); \
    return call.Return(Result::kInvalidOperation);  \
  }
FORBIDDEN(Finalize)
FORBIDDEN(ActivityEnable_v2)
FORBIDDEN(ActivityDisable_v2)
FORBIDDEN(ActivityEnableAndDump_v2)
FORBIDDEN(ActivityRegisterCallbacks_v2)
FORBIDDEN(ActivityGetNextRecord_v2)
FORBIDDEN(ActivityGetNumDroppedRecords_v2)
FORBIDDEN(ActivityPushExternalCorrelationId_v2)
FORBIDDEN(ActivityPopExternalCorrelationId_v2)
FORBIDDEN(GetTimestamp_v2)

}  // namespace
}  // namespace fake

EXPORT(GetVersion)
EXPORT(GetResultString)
EXPORT(GetTimestamp)
EXPORT(GetCallbackName)
EXPORT(Subscribe)
EXPORT(Subscribe_v2)
EXPORT(Unsubscribe)
EXPORT(EnableCallback)
EXPORT_UNDECLARED(Finalize)
EXPORT_UNDECLARED(ActivityEnable_v2)
EXPORT_UNDECLARED(ActivityDisable_v2)
EXPORT_UNDECLARED(ActivityEnableAndDump_v2)
EXPORT_UNDECLARED(ActivityRegisterCallbacks_v2)
EXPORT_UNDECLARED(ActivityGetNextRecord_v2)
EXPORT_UNDECLARED(ActivityGetNumDroppedRecords_v2)
EXPORT_UNDECLARED(ActivityPushExternalCorrelationId_v2)
EXPORT_UNDECLARED(ActivityPopExternalCorrelationId_v2)
EXPORT_UNDECLARED(GetTimestamp_v2)
