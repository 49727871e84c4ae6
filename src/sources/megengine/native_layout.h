// The memory layout of a window of MegEngine 1.13. The declarations are our own, so MegEngine is not needed to compile
// this. Its wheels use libstdc++'s old strings (one pointer; size and capacity lie before the characters), which are
// declared here too.
//
//   callable -> __self__: capsule -> FunctionRecord (pybind11) -> std::function -> closure -> Bundle
//   Bundle.records[i].payload -> Payload.object -> type_info*, then the struct of the event's type
//
// Thread rule: plain layouts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace opscope::megengine {

inline constexpr size_t kFunctionInRecord = 56;  // FunctionRecord: offset of the pointer to the heap's std::function

struct NativeString {
  const char* text;
  uint64_t size() const { return reinterpret_cast<const uint64_t*>(text)[-3]; }
};

struct NativeObject {
  const void* type;  // std::type_info: a virtual table, then the name
  // The event follows.
};
struct Payload {
  uint64_t references, weak;
  const NativeObject* object;
};
struct NativeRecord {
  uint64_t id;
  uint64_t thread;
  int64_t time;
  const Payload* payload;
};

// std::unordered_map: its nodes are a list.
struct NativeMap {
  const void* buckets;
  uint64_t bucket_count;
  const void* first;
  uint64_t size;
  uint64_t policy[2];
  const void* single_bucket;
};
struct ThreadNode {
  const ThreadNode* next;
  uint64_t thread;
  NativeString name;
};

struct Bundle {
  int64_t start;
  NativeMap threads;
  NativeMap options;
  const NativeRecord* begin;
  const NativeRecord* end;
  const NativeRecord* capacity;
};
static_assert(sizeof(NativeMap) == 56 && offsetof(Bundle, begin) == 120);

// SmallVector of words; a short one is stored inline.
struct NativeWords {
  const uint64_t* begin;
  const uint64_t* end;
  const uint64_t* capacity;
  uint64_t inside[4];
  uint64_t count() const { return static_cast<uint64_t>(end - begin); }
};

// std::function; the captured values are on the heap or in its storage.
struct NativeFunction {
  using Manager = bool (*)(void* to, const void* from, int what);
  static constexpr int kDestroy = 3;
  uint64_t storage[2];
  const void* manager;  // null: empty
  const void* invoker;
};

struct TensorShape {
  uint64_t sizes[7];
  uint64_t dimensions;
};
struct ElementType {
  const char* name;
};
struct TensorLayout {
  TensorShape shape;
  int64_t strides[7];
  const ElementType* type;
  const void* format;
};

// Events, behind their NativeObject. A CompNode is a pointer to its implementation.
struct OpDispatch {
  uint64_t op;
  NativeString name;
  NativeFunction parameters;
  NativeWords inputs, outputs;
};
struct OpExecute {
  uint64_t op;
  NativeWords devices;
  NativeString reason;
};
struct KernelLaunch {
  uint64_t op, kernel;
  const void* device;
};
struct TensorDeclare {
  uint64_t tensor;
  NativeString name;
};
struct TensorProduce {
  uint64_t tensor;
  TensorLayout layout;
  const void* device;
  const void* address;
};
struct TensorErase {
  uint64_t tensor, uses;
};
struct TensorDetail {  // TensorGetProp, TensorCommand
  uint64_t tensor;
  int32_t detail;
};
struct TensorNotify {
  uint64_t tensor, wait;
  int32_t property;
};
struct TensorWait {
  uint64_t tensor, wait;
  int32_t property;
  NativeFunction parameters;
};
struct SampleDevice {
  const void* device;
  uint64_t total, free;
};
struct Scope {
  NativeString name;
  int32_t type;
};
struct Custom {
  NativeString title, content;
  const void* device;
};
struct RecordDevice {
  void* event;
  const void* control;
};
struct HostToDevice {
  TensorLayout layout;
  const void* device;
  const void* host;
  const void* address;
};

// In the implementation of a computing node: the physical locator, then the program's.
struct Locator {
  int32_t type, device, stream;
};

}  // namespace opscope::megengine
