// A window as MegEngine keeps it, built by hand: what is found in it, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "opscope/megengine_event.h"
#include "recorder/decoded_window_for_test.h"
#include "sources/megengine/bundle.h"
#include "sources/megengine/computing_nodes.h"
#include "sources/megengine/walk.h"

namespace opscope::megengine {
namespace {

constexpr int64_t kStart = 1700000000000000000;
constexpr uint64_t kThread = 0x7f0000001000;

// std::type_info: its functions, then the name.
struct TypeInfo {
  const void* functions = nullptr;
  const char* name = nullptr;
};

struct FakeWindow {
  std::deque<std::string> texts;
  std::deque<std::vector<uint64_t>> blocks;
  std::deque<TypeInfo> types;
  ThreadNode thread{};
  std::vector<NativeRecord> records;
  Bundle bundle{};
  const void* closure[2] = {};
  NativeFunction function{};
  uint64_t function_record[8] = {};

  FakeWindow() { thread = {nullptr, kThread, Text("worker")}; }

  NativeString Text(const std::string& text) {
    std::vector<uint64_t>& words = blocks.emplace_back(4 + text.size() / 8);
    words[0] = words[1] = text.size();
    std::memcpy(&words[3], text.c_str(), text.size() + 1);
    return {reinterpret_cast<const char*>(&words[3])};
  }
  template <typename T>
  void Add(const std::string& type, const T& event) {
    const std::string name = type + "Event";
    texts.push_back(std::string(kEventTypes) + std::to_string(name.size()) + name + "E");
    types.push_back({&types, texts.back().c_str()});
    std::vector<uint64_t>& object = blocks.emplace_back(1 + (sizeof(event) + 7) / 8);
    object[0] = reinterpret_cast<uint64_t>(&types.back());
    std::memcpy(&object[1], static_cast<const void*>(&event), sizeof(event));
    std::vector<uint64_t>& payload = blocks.emplace_back(3);
    payload = {1, 0, reinterpret_cast<uint64_t>(object.data())};
    const auto number = static_cast<uint64_t>(records.size());
    records.push_back({number, kThread, kStart + static_cast<int64_t>(number) * 10,
                       reinterpret_cast<const Payload*>(payload.data())});
  }
  const void* Finish() {
    bundle.start = kStart;
    bundle.threads.first = &thread;
    bundle.threads.size = 1;
    bundle.begin = records.data();
    bundle.end = bundle.capacity = records.data() + records.size();
    closure[0] = &bundle;
    function.storage[0] = reinterpret_cast<uint64_t>(closure);
    function_record[7] = reinterpret_cast<uint64_t>(&function);
    return function_record;
  }
};

// Of the records that a walk has written of it.
std::vector<DecodedRecord> Taken(FakeWindow* window, OwnMemory* memory, Status* status) {
  OwnedWindow recorded = OpenTestWindow({});
  const TrackOptions options{.name = "megengine"};
  Stream* track = opscope_track_open(recorded.get(), &options);
  RecordWriter writer(track);
  Walk walk(&writer, memory);
  const Result<FoundBundle> found = FindBundle(window->Finish(), memory);
  *status = found.ok() ? walk.Take(found.value()) : Status(found.error());
  opscope_track_close(track);
  const DecodedWindow decoded = CloseAndDecode(recorded.get());
  for (const auto& [index, thread] : decoded.threads) {
    if (thread.name == "megengine") return thread.records;
  }
  return {};
}

TEST(MegEngineWalk, WritesARecordForEachOfTheirsInOrder) {
  for (const OwnMemory::Way way : {OwnMemory::Way::kByKernel, OwnMemory::Way::kByPipe}) {
    OwnMemory memory(way);
    FakeWindow window;
    const std::vector<uint64_t> inputs = {7, 8}, outputs = {9};
    OpDispatch dispatch{};
    dispatch.op = 5;
    dispatch.name = window.Text("MatrixMul");
    dispatch.inputs = {inputs.data(), inputs.data() + 2, inputs.data() + 2, {}};
    dispatch.outputs = {outputs.data(), outputs.data() + 1, outputs.data() + 1, {}};
    window.Add("Scope", Scope{window.Text("conv1"), 1});
    window.Add("OpDispatch", dispatch);
    window.Add("TensorUsage", uint64_t{7});
    window.Add("ScopeFinish", Scope{window.Text("conv1"), 1});
    Status status;
    const std::vector<DecodedRecord> records = Taken(&window, &memory, &status);
    ASSERT_TRUE(status.ok()) << status.error().message;
    ASSERT_EQ(records.size(), 6u);
    EXPECT_EQ(records[0].record.scope, static_cast<uint8_t>(MegEngineEvent::kStart));
    EXPECT_EQ(records[1].name, "worker");
    EXPECT_EQ(records[2].name, "conv1");
    EXPECT_EQ(records[2].record.reserved, 1);
    EXPECT_EQ(records[3].name, "MatrixMul");
    EXPECT_EQ(records[3].record.value, 5u);
    EXPECT_EQ(records[3].record.start, static_cast<uint64_t>(kStart) + 10);
    EXPECT_EQ(records[4].record.scope, static_cast<uint8_t>(MegEngineEvent::kTensorUsage));
    EXPECT_EQ(records[4].record.value, 7u);
    EXPECT_EQ(records[5].record.flags, record_flags::kFinish);
  }
}

TEST(MegEngineWalk, SaysDefinitionsAgainInEveryChunk) {
  OwnMemory memory;
  FakeWindow window;
  window.Add("TensorUsage", uint64_t{1});
  const NativeRecord again = window.records[0];
  for (uint64_t i = 0; i < 20000; ++i)
    window.records.push_back({i + 1, again.thread, again.time, again.payload});
  Status status;
  const std::vector<DecodedRecord> records = Taken(&window, &memory, &status);
  ASSERT_TRUE(status.ok());
  size_t definitions = 0, usages = 0;
  for (const DecodedRecord& record : records) {
    definitions += record.name == "worker" ? 1 : 0;
    usages += record.record.scope == static_cast<uint8_t>(MegEngineEvent::kTensorUsage) ? 1 : 0;
  }
  EXPECT_EQ(usages, 20001u);
  EXPECT_GE(definitions, 3u);
}

TEST(MegEngineWalk, PassesOverEventsThatItDoesNotKnow) {
  OwnMemory memory;
  FakeWindow window;
  window.Add("CUPTIMemset", uint64_t{1});
  window.Add("TensorUsage", uint64_t{2});
  OwnedWindow recorded = OpenTestWindow({});
  const TrackOptions options{.name = "megengine"};
  Stream* track = opscope_track_open(recorded.get(), &options);
  RecordWriter writer(track);
  Walk walk(&writer, &memory);
  ASSERT_TRUE(walk.Take(FindBundle(window.Finish(), &memory).value()).ok());
  EXPECT_EQ(walk.unknown(), 1u);
  EXPECT_EQ(writer.written(), 1u);
  opscope_track_close(track);
}

// As libstdc++ frees what a std::function has captured.
bool Manage(void* to, const void* from, int what) {
  if (to != from || what != NativeFunction::kDestroy) return false;
  uint64_t closure = 0;
  std::memcpy(&closure, to, sizeof(closure));
  ++**reinterpret_cast<int**>(closure + sizeof(void*));
  return true;
}

TEST(MegEngineWalk, FreesTheRecordsOnce) {
  OwnMemory memory;
  FakeWindow window;
  window.Add("TensorUsage", uint64_t{1});
  const void* record = window.Finish();
  int freed = 0;
  window.closure[1] = &freed;
  FreeBundle(record, &memory);
  EXPECT_EQ(freed, 0) << "a function of nobody";
  window.function.manager = reinterpret_cast<const void*>(&Manage);
  window.function.invoker = reinterpret_cast<const void*>(&std::malloc);
  FreeBundle(record, &memory);
  EXPECT_EQ(freed, 0) << "its parts are of two libraries";
  window.function.invoker = reinterpret_cast<const void*>(&Manage);
  FreeBundle(record, &memory);
  FreeBundle(record, &memory);
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(window.function.manager, nullptr) << "as one that holds nothing";
}

TEST(MegEngineWalk, RefusesWhatIsLaidOutOtherwise) {
  OwnMemory memory;
  Status status;
  const auto reason = [&](FakeWindow* window) {
    Taken(window, &memory, &status);
    return status.ok() ? std::string() : status.error().message;
  };
  FakeWindow sound;
  sound.Add("TensorUsage", uint64_t{1});
  EXPECT_EQ(reason(&sound), "");
  FakeWindow other_type;
  other_type.Add("TensorUsage", uint64_t{1});
  other_type.texts.back()[3] = 'x';
  EXPECT_NE(reason(&other_type).find("the type of a record"), std::string::npos);
  FakeWindow other_thread;
  other_thread.Add("TensorUsage", uint64_t{1});
  other_thread.records[0].thread = 1;
  EXPECT_NE(reason(&other_thread).find("numbers and threads"), std::string::npos);
  FakeWindow no_text;
  no_text.Add("Scope", Scope{{reinterpret_cast<const char*>(uintptr_t{0x1000})}, 0});
  EXPECT_NE(reason(&no_text).find("ScopeEvent"), std::string::npos);
}

TEST(MegEngineWalk, RefusesPointersThatLeadNowhere) {
  OwnMemory memory;
  void* gone = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(gone, 4096);
  uint64_t record[8] = {};
  for (const void* function : {static_cast<const void*>(nullptr), static_cast<const void*>(gone)}) {
    record[7] = reinterpret_cast<uint64_t>(function);
    EXPECT_FALSE(FindBundle(record, &memory).ok());
  }
  EXPECT_FALSE(FindBundle(gone, &memory).ok());
  const void* called_before[4] = {};
  const void* closure[2] = {};
  called_before[0] = closure;
  record[7] = reinterpret_cast<uint64_t>(called_before);
  EXPECT_NE(FindBundle(record, &memory).error().message.find("called before"), std::string::npos);
}

TEST(OwnMemory, ReadsWhatIsThereAndSaysWhatIsNot) {
  for (const OwnMemory::Way way : {OwnMemory::Way::kByKernel, OwnMemory::Way::kByPipe}) {
    OwnMemory memory(way);
    uint64_t value = 0;
    const uint64_t there = 42;
    EXPECT_TRUE(memory.Read(&there, &value));
    EXPECT_EQ(value, 42u);
    auto* pages = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    munmap(pages + 4096, 4096);
    EXPECT_TRUE(memory.Read(pages + 4088, &value));
    EXPECT_FALSE(memory.Read(pages + 4092, &value)) << "half of it";
    EXPECT_FALSE(memory.Read(pages + 4096, &value));
    EXPECT_TRUE(memory.Read(&there, &value)) << "after a refusal";
    EXPECT_EQ(value, 42u);
    munmap(pages, 4096);
  }
}

TEST(ComputingNodes, HaveTheNamesOfTheirLocators) {
  EXPECT_EQ(LocatorText({1, 3, 0}), "gpu3:0");
  EXPECT_EQ(LocatorText({0, -1, 2}), "xpux:2");
  EXPECT_EQ(LocatorText({2, -1024, 0}), "cpu:default");
  EXPECT_EQ(LocatorText({1, 0, -1}), "gpu0:COPY");
  EXPECT_EQ(LocatorText({7, 0, 0}), "");
  OwnMemory memory;
  std::vector<int32_t> node(512);
  node[8] = 2, node[10] = 64;  // an alignment, and no stream
  const Locator both[2] = {{1, 2, 5}, {0, -1, 5}};
  std::memcpy(&node[234], both, sizeof(both));
  EXPECT_EQ(NodeNames(node.data(), &memory), "gpu2:5 xpux:5");
  EXPECT_EQ(NodeNames(nullptr, &memory), "invalid invalid");
}

}  // namespace
}  // namespace opscope::megengine
