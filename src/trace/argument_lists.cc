// Finds equal argument lists by hash. A training loop calls an operator a thousand times with the same
// shapes, so the table has a thousandth of the rows. Lists with equal hashes form a chain, which is compared in
// full: a collision costs time and never merges two lists.
// SPDX-License-Identifier: Apache-2.0
#include "trace/argument_lists.h"

#include <algorithm>
#include <vector>

namespace opscope {
namespace {

constexpr uint32_t kNoList = 0xffffffff;

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

uint64_t HashOf(std::span<const ArgumentRow> arguments, uint64_t hash) {
  hash = Mix(hash, arguments.size());
  for (const ArgumentRow& argument : arguments) {
    hash = Mix(hash, static_cast<uint64_t>(argument.kind) | (argument.has_strides ? 256u : 0u) |
                         static_cast<uint64_t>(argument.layout) << 16);
    hash = Mix(hash, static_cast<uint64_t>(Row(argument.dtype)) << 32 | Row(argument.value));
    hash = Mix(hash, argument.sizes.size());
    for (const int64_t size : argument.sizes)
      hash = Mix(hash, static_cast<uint64_t>(size));
    hash = Mix(hash, argument.strides.size());
    for (const int64_t stride : argument.strides)
      hash = Mix(hash, static_cast<uint64_t>(stride));
    hash = HashOf(argument.tensors, hash);
  }
  return hash;
}

bool Same(std::span<const Argument> stored, std::span<const ArgumentRow> added) {
  return std::ranges::equal(stored, added, [](const Argument& a, const ArgumentRow& b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.value == b.value && a.has_strides == b.has_strides &&
           a.layout == b.layout && std::ranges::equal(a.sizes, b.sizes) && std::ranges::equal(a.strides, b.strides) &&
           Same(a.tensors, b.tensors);
  });
}

}  // namespace

std::span<const Argument> ArgumentLists::Copy(std::span<const ArgumentRow> arguments) {
  std::vector<Argument> copies;
  copies.reserve(arguments.size());
  for (const ArgumentRow& argument : arguments) {
    copies.push_back({.kind = argument.kind,
                      .dtype = argument.dtype,
                      .value = argument.value,
                      .has_strides = argument.has_strides,
                      .layout = argument.layout,
                      .sizes = arena_.Copy(argument.sizes),
                      .strides = arena_.Copy(argument.strides),
                      .tensors = Copy(argument.tensors)});
  }
  return arena_.Copy(std::span<const Argument>(copies));
}

ArgsId ArgumentLists::Add(std::span<const ArgumentRow> arguments) {
  if (arguments.empty()) return ArgsId::kNone;
  const uint64_t hash = HashOf(arguments, 0);
  const auto found = by_hash_.find(hash);
  const uint32_t first = found == by_hash_.end() ? kNoList : found->second;
  for (uint32_t list = first; list != kNoList; list = same_hash_[list]) {
    if (Same(lists_[list], arguments)) return static_cast<ArgsId>(list);
  }
  const auto id = static_cast<uint32_t>(lists_.size());
  lists_.push_back(Copy(arguments));
  same_hash_.push_back(first);
  by_hash_[hash] = id;
  return static_cast<ArgsId>(id);
}

size_t ArgumentLists::memory_bytes() const {
  return arena_.memory_bytes() + lists_.memory_bytes() + same_hash_.memory_bytes() + by_hash_.bucket_count() * 24;
}

void ArgumentLists::DropIndex() {
  by_hash_ = {};
  same_hash_ = {};
}

}  // namespace opscope
