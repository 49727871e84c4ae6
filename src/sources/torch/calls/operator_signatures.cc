// A lock-free set of operators with open addressing, keyed by the address of the schema. It has 8,192 entries for the
// 3,000 operators of torch, and never removes one; most look-ups touch one entry. Signatures are text, one letter per
// argument, "?" before an optional one and "!" behind one that the operator writes:
//
//   aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1)     "aten::add_ t!tn"
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/calls/operator_signatures.h"

#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <set>

#include "opscope/recorder.h"
#include "sources/streams/failures.h"

namespace opscope {
namespace {

constexpr size_t kOperatorEntries = 8192;

// The name is a copy: an extension may unregister its operators, which destroys their schemas.
struct OperatorEntry {
  std::atomic<const c10::FunctionSchema*> schema{nullptr};
  std::atomic<const std::string*> name{nullptr};
};
constinit OperatorEntry operator_entries[kOperatorEntries];

char ArgumentCode(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::AnyType) return '*';
  if (type.isSubtypeOf(*c10::ListType::ofTensors())) return 'T';
  switch (type.kind()) {
    case c10::TypeKind::TensorType:
      return 't';
    case c10::TypeKind::NoneType:
      return '0';
    case c10::TypeKind::BoolType:
      return 'b';
    case c10::TypeKind::IntType:
      return 'i';
    case c10::TypeKind::FloatType:
      return 'f';
    case c10::TypeKind::ComplexType:
      return 'c';
    case c10::TypeKind::NumberType:
      return 'n';
    default:
      return '-';
  }
}

void AppendSignature(const c10::FunctionSchema& schema, std::string* out) {
  out->push_back(' ');
  if (schema.arguments().empty()) out->push_back('.');
  for (const c10::Argument& argument : schema.arguments()) {
    const c10::Type* type = argument.type().get();
    while (type->kind() == c10::TypeKind::OptionalType) {
      out->push_back('?');
      type = type->castRaw<c10::OptionalType>()->getElementType().get();
    }
    out->push_back(ArgumentCode(*type));
    if (argument.alias_info() != nullptr && argument.alias_info()->isWrite()) out->push_back('!');
  }
}

void SetName(OperatorEntry* entry, const std::string& name) {
  try {
    entry->name.store(new std::string(name), std::memory_order_release);
  } catch (const std::bad_alloc&) {
    CountFailure();
  }
}

}  // namespace

void RecordOperator(const c10::FunctionSchema* schema) {
  static_assert(kOperatorEntries == size_t{1} << 13);
  const size_t first = HashWord(reinterpret_cast<uintptr_t>(schema) >> 4, 13);
  for (size_t probe = 0; probe < kOperatorEntries; ++probe) {
    OperatorEntry& entry = operator_entries[(first + probe) % kOperatorEntries];
    const c10::FunctionSchema* known = entry.schema.load(std::memory_order_relaxed);
    if (__builtin_expect(known == schema, 1)) return;
    if (known == nullptr && entry.schema.compare_exchange_strong(known, schema)) return SetName(&entry, schema->name());
    if (known == schema) return;  // another thread has just added it
  }
  CountFailure();
}

std::string RecordedOperatorSignatures() {
  std::set<std::string> names;
  for (const OperatorEntry& entry : operator_entries) {
    if (const std::string* name = entry.name.load(std::memory_order_acquire)) names.insert(*name);
  }
  std::string text;
  for (const std::string& name : names) {
    if (name.find("::") == std::string::npos || name.find_first_of(" ;\"\\") != std::string::npos) continue;
    if (!text.empty()) text.push_back(';');
    text.append(name);
    for (const auto& op : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)))
      AppendSignature(op->schema(), &text);
  }
  return text;
}

}  // namespace opscope
