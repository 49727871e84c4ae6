// Names of nodes are hashed by content (the first and the last eight bytes, and the size), because nodes of one class
// have names at different addresses. The table has 1,024 entries, uses linear probing over at most 16 of them, and
// never removes a name.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/node_ranges.h"

// Without this macro the header of nodes includes those of all operators, which take longer to compile than the rest.
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS
#endif
// It also includes all vector intrinsics (1.4 MB, a second) for the one that reads torch's clock.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(_X86INTRIN_H_INCLUDED)
#define OPSCOPE_WITHOUT_INTRINSICS
#define _X86INTRIN_H_INCLUDED
#define __rdtsc __builtin_ia32_rdtsc
#endif
#if __has_include(<torch/csrc/autograd/node.h>)
#include <torch/csrc/autograd/node.h>
#else
#include <torch/csrc/autograd/function.h>
#endif
#if defined(OPSCOPE_WITHOUT_INTRINSICS)  // later includes get the real header
#undef _X86INTRIN_H_INCLUDED
#undef __rdtsc
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "opscope/recorder.h"
#include "sources/streams/failures.h"
#include "sources/torch/abi/torch_layout.h"

namespace opscope::range_hooks::node_ranges {

constinit std::atomic<const void*> engine{nullptr};

namespace {

constexpr std::string_view kPrefix = "autograd::engine::evaluate_function: ";

constexpr uint32_t kNameBits = 10;  // torch 2.13 has 711 classes of nodes, and programs define more
constexpr size_t kProbes = 16;
struct Schemas {
  c10::FunctionSchema inner, outer;
  explicit Schemas(std::string_view node)
      : inner(std::string(node), "", {}, {}, /*is_vararg=*/true),
        outer(std::string(kPrefix).append(node), "", {}, {}, /*is_vararg=*/true) {}
};
constinit std::array<std::atomic<const Schemas*>, size_t{1} << kNameBits> names{};

// The last range that the calling thread constructed, its call site, and the node that ran then.
struct Constructed {
  const at::RecordFunction* range;
  const void* call_site;
  const torch::autograd::Node* node;
};
constinit __thread Constructed constructed{};

size_t IndexOf(std::string_view name) {
  uint64_t first = 0, last = 0;
  const size_t bytes = std::min(name.size(), sizeof(first));
  std::memcpy(&first, name.data(), bytes);
  std::memcpy(&last, name.data() + name.size() - bytes, bytes);
  return HashWord(HashWord(first ^ name.size(), 64) ^ last, kNameBits);
}

// Null: the table is full.
const Schemas* SchemasOf(std::string_view node) {
  const size_t first = IndexOf(node);
  for (size_t probe = 0; probe < kProbes; ++probe) {
    auto& at = names[(first + probe) % names.size()];
    const Schemas* known = at.load(std::memory_order_acquire);
    if (known == nullptr) {
      auto made = std::make_unique<const Schemas>(node);
      if (at.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return made.release();
    }
    if (known->inner.name() == node) return known;
  }
  return nullptr;
}

}  // namespace

const c10::FunctionSchema* SchemaNamed(std::string_view node) {
  try {
    const Schemas* schemas = SchemasOf(node);
    return schemas != nullptr ? &schemas->inner : nullptr;
  } catch (...) {
    CountFailure();
    return nullptr;
  }
}

const c10::FunctionSchema* SchemaAroundNode() {
  try {
    const auto node = torch::autograd::get_current_node();
    const Schemas* schemas = node ? SchemasOf(node->name()) : nullptr;
    return schemas != nullptr ? &schemas->outer : nullptr;
  } catch (...) {
    CountFailure();
    return nullptr;
  }
}

void OnConstructed(const at::RecordFunction* range, const void* call_site) {
  constructed = {range, call_site, torch::autograd::get_current_node().get()};
}

void OnEnding(const at::RecordFunction& range) {
  if (constructed.range != &range) return;
  const auto [of, call_site, node] = std::exchange(constructed, {});
  const auto* text = std::get_if<std::string>(&(range.*Reach(torch_layout::Name())));
  if (text == nullptr || node == nullptr || node != torch::autograd::get_current_node().get()) return;
  const c10::FunctionSchema* schema = SchemaAroundNode();
  if (schema != nullptr && schema->name() == *text) engine.store(call_site, std::memory_order_relaxed);
}

}  // namespace opscope::range_hooks::node_ranges
