// Scopes, counters and the like for C: the inline functions of scope.h behind calls. An opscope_scope is the
// OpenScope itself, so a handle costs no memory of its own.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/scope.h"

#include "opscope/c.h"

namespace {

const char* TextOf(const char* text) {
  return text == nullptr ? "" : text;
}

// Looked at before anything else, so that the functions need no frame while nothing records.
bool NothingRecords() {
  return OPSCOPE_LIKELY(opscope_gate.load(std::memory_order_relaxed) == 0);
}

template <typename Name>
[[gnu::noinline]] opscope_scope* Begin(Name name) {
  return reinterpret_cast<opscope_scope*>(opscope::BeginNativeScope(name));
}

opscope::OpenScope* OpenOf(opscope_scope* scope) {
  return reinterpret_cast<opscope::OpenScope*>(scope);
}

}  // namespace

opscope_scope* opscope_scope_begin(const char* literal) {
  return NothingRecords() ? nullptr : Begin(opscope::StaticName{TextOf(literal)});
}

opscope_scope* opscope_scope_begin_copy(const char* name) {
  return NothingRecords() ? nullptr : Begin(TextOf(name));
}

void opscope_scope_end(opscope_scope* scope) {
  if (scope != nullptr) opscope::EndNativeScope(OpenOf(scope));
}

void opscope_scope_text(opscope_scope* scope, const char* key, const char* text) {
  if (scope != nullptr) opscope::AddScopeText(OpenOf(scope), TextOf(key), TextOf(text), std::strlen(TextOf(text)));
}

void opscope_scope_int(opscope_scope* scope, const char* key, int64_t value) {
  if (scope != nullptr) opscope::AddScopeInt(OpenOf(scope), TextOf(key), value);
}

void opscope_scope_uint(opscope_scope* scope, const char* key, uint64_t value) {
  if (scope != nullptr) opscope::AddScopeUint(OpenOf(scope), TextOf(key), value);
}

void opscope_scope_double(opscope_scope* scope, const char* key, double value) {
  if (scope != nullptr) opscope::AddScopeDouble(OpenOf(scope), TextOf(key), value);
}

void opscope_scope_bool(opscope_scope* scope, const char* key, int value) {
  if (scope != nullptr) opscope::AddScopeJson(OpenOf(scope), TextOf(key), value != 0 ? "true" : "false");
}

void opscope_scope_json(opscope_scope* scope, const char* key, const char* json) {
  if (scope != nullptr) opscope::AddScopeJson(OpenOf(scope), TextOf(key), json == nullptr ? "null" : json);
}

void opscope_counter(const char* name, double value) {
  opscope::Counter(TextOf(name), value);
}

void opscope_instant(const char* name) {
  opscope::Instant(TextOf(name));
}

void opscope_flow_begin(const char* name, uint64_t id) {
  opscope::FlowBegin(TextOf(name), id);
}

void opscope_flow_end(const char* name, uint64_t id) {
  opscope::FlowEnd(TextOf(name), id);
}

int opscope_is_recording(void) {
  // A thread that cannot record has its events counted as dropped; a question is none.
  if (opscope_gate.load(std::memory_order_relaxed) == 0 || opscope_thread() == nullptr) return 0;
  return opscope::NativeStream() != nullptr ? 1 : 0;
}
