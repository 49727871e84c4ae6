// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "sources/got/got_entries.h"
#include "sources/torch/recorded_window_for_test.h"

namespace opscope {
namespace {

constexpr const char* kNew = "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm";

struct Block {
  uint64_t address = 0;
  int64_t bytes = 0;  // below 0: freed
  bool is_sure = true;
  bool operator==(const Block&) const = default;
};

std::vector<Block> HostBlocks(const RecordedWindow& window) {
  std::vector<Block> blocks;
  for (const RecordedRange& range : window.Ranges()) {
    if (range.record.kind != RecordKind::kHostBlock) continue;
    const auto bytes = static_cast<int64_t>(range.record.value);
    const uint8_t flags = range.record.flags;
    blocks.push_back({.address = BlockAddress(range.record),
                      .bytes = (flags & record_flags::kFreed) != 0 ? -bytes : bytes,
                      .is_sure = (flags & record_flags::kUnsure) == 0});
  }
  return blocks;
}

TEST(TorchAllocations, AreRecordedWithAddressAndSize) {
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kMemory);
  uint64_t address = 0;
  {
    const at::Tensor x = at::empty({16});
    address = reinterpret_cast<uint64_t>(x.data_ptr());
  }
  TheSource().stop(session);
  window.Close();
  EXPECT_THAT(HostBlocks(window), testing::ElementsAre(Block{address, 64}, Block{address, -64}));
}

TEST(TorchAllocations, OfTheDefaultAllocatorAreSeenWhateverAsksIt) {
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kMemory);
  {
    const c10::DataPtr block = c10::GetDefaultCPUAllocator()->allocate(4096);
  }
  TheSource().stop(session);
  window.Close();
  const std::vector<Block> blocks = HostBlocks(window);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].bytes, 4096);
}

TEST(TorchAllocations, AreNotRecordedUnlessAskedFor) {
  const RecordedWindow window;
  void* session = window.Start();
  (void)at::empty({16});
  TheSource().stop(session);
  window.Close();
  EXPECT_THAT(HostBlocks(window), testing::IsEmpty());
}

// What a window sees of the work.
template <typename Work>
std::vector<Block> BlocksOf(const Work& work) {
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kMemory);
  work();
  TheSource().stop(session);
  window.Close();
  return HostBlocks(window);
}

uint64_t AddressOf(const at::Tensor& tensor) {
  return reinterpret_cast<uint64_t>(tensor.data_ptr());
}

TEST(TorchAllocations, OfAnEarlierWindowHaveTheirSizeWhenTheyAreFreed) {
  at::Tensor small, large, unseen = at::empty({1001});
  BlocksOf([&] { small = at::empty({1001}), large = at::empty({1'000'003}); });
  const uint64_t addresses[] = {AddressOf(small), AddressOf(large), AddressOf(unseen)};
  (void)at::empty({77});
  const std::vector<Block> freed = BlocksOf([&] { small.reset(), large.reset(), unseen.reset(); });
  EXPECT_THAT(
      freed, testing::ElementsAre(Block{addresses[0], -4004}, Block{addresses[1], -4'000'012}, Block{addresses[2], 0}));
}

TEST(TorchAllocations, OfAnAddressThatWasGivenOutAgainUnseenAreAnUpperBound) {
  at::Tensor block;
  BlocksOf([&] { block = at::empty({1001}); });
  const uint64_t address = AddressOf(block);
  block.reset();
  std::vector<at::Tensor> others;
  for (int64_t i = 0; i < 10'000 && (others.empty() || AddressOf(others.back()) != address); ++i)
    others.push_back(at::empty({401}));
  if (AddressOf(others.back()) != address) GTEST_SKIP() << "the allocator does not give that address again";
  const std::vector<Block> freed = BlocksOf([&] { others.pop_back(); });
  ASSERT_EQ(freed.size(), 1u);
  EXPECT_FALSE(freed[0].is_sure);
  EXPECT_LE(freed[0].bytes, -401 * 4);
  EXPECT_GT(freed[0].bytes, -1001 * 4);
}

TEST(TorchAllocations, AreForgottenOnceAnyWindowSawThemFreed) {
  at::Tensor block;
  BlocksOf([&] { block = at::empty({1001}); });
  EXPECT_EQ(BlocksOf([&] { std::thread([&] { block.reset(); }).join(); }).size(), 0u) << "another thread's";
  std::vector<at::Tensor> others;
  for (int64_t i = 0; i < 1'000; ++i)
    others.push_back(at::empty({1001}));
  for (const Block& freed : BlocksOf([&] { others.clear(); }))
    EXPECT_EQ(freed.bytes, 0);
}

TEST(TorchAllocations, OfThreadsThatTheWindowDoesNotSeeAreLeftOut) {
  const RecordedWindow mine, all;
  void* of_this_thread = mine.Start(torch_source_flags::kMemory);
  void* of_all = all.Start(torch_source_flags::kMemory | torch_source_flags::kAllThreads);
  std::thread([] { (void)at::empty({32}); }).join();
  (void)at::empty({16});
  TheSource().stop(of_this_thread);
  TheSource().stop(of_all);
  mine.Close();
  all.Close();
  EXPECT_EQ(HostBlocks(mine).size(), 2u);
  const std::vector<Block> blocks = HostBlocks(all);
  ASSERT_EQ(blocks.size(), 4u);
  for (size_t i = 0; i < blocks.size(); i += 2)
    EXPECT_TRUE(blocks[i].address != 0 && blocks[i].address == blocks[i + 1].address) << "moved when its thread ended";
}

TEST(TorchAllocations, LeaveTheLibrarysSlotsAsTheyWere) {
  const std::vector<GotEntry> entries = FindGotEntries("libc10.so", kNew);
  ASSERT_FALSE(entries.empty());
  void* before = *entries[0].address;
  const RecordedWindow first, second;
  void* one = first.Start(torch_source_flags::kMemory);
  void* two = second.Start(torch_source_flags::kMemory);
  EXPECT_NE(*entries[0].address, before);
  TheSource().stop(one);
  EXPECT_NE(*entries[0].address, before) << "the second window still wants them";
  TheSource().stop(one);  // does nothing
  (void)at::empty({16});
  TheSource().stop(two);
  // The linker may have put the function's own address there meanwhile; ours is gone.
  Dl_info owner;
  ASSERT_NE(dladdr(*entries[0].address, &owner), 0);
  EXPECT_THAT(owner.dli_fname, testing::HasSubstr("libc10"));
  first.Close();
  second.Close();
  EXPECT_EQ(HostBlocks(first).size(), 0u);
  EXPECT_EQ(HostBlocks(second).size(), 2u);
}

TEST(TorchAllocations, OfAForkedChildAreItsOwnAffair) {
  const std::vector<GotEntry> entries = FindGotEntries("libc10.so", kNew);
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kMemory);
  void* ours = *entries[0].address;
  const pid_t child = fork();
  if (child == 0) {
    (void)at::empty({16});
    _exit(*entries[0].address == ours ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  (void)at::empty({16});
  TheSource().stop(session);
  window.Close();
  EXPECT_EQ(HostBlocks(window).size(), 2u);
}

// The library beside this test stands where torch's own allocator of a device would.
TEST(TorchAllocations, OfADeviceComeWithTheTotalsOfItsAllocator) {
  void* library = dlopen(OPSCOPE_DEVICE_ALLOCATOR, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* report = reinterpret_cast<bool (*)(void*, int64_t, size_t, size_t, int)>(dlsym(library, "ReportIfEnabled"));
  ASSERT_NE(report, nullptr);
  int block = 0;
  EXPECT_FALSE(report(&block, 512, 512, 2048, 0)) << "nobody listens yet";

  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kMemory);
  EXPECT_TRUE(report(&block, 512, 512, 2048, 1));
  EXPECT_TRUE(report(&block, -512, 0, 2048, 1));
  std::thread([&] { EXPECT_FALSE(report(&block, 1, 1, 1, 1)) << "another thread"; }).join();
  TheSource().stop(session);
  EXPECT_FALSE(report(&block, 512, 512, 2048, 0));
  window.Close();

  std::vector<RecordedRange> seen;
  for (const RecordedRange& range : window.Ranges()) {
    if (range.record.kind == RecordKind::kAllocation) seen.push_back(range);
  }
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(static_cast<int64_t>(seen[0].record.value), 512);
  EXPECT_EQ(static_cast<int64_t>(seen[1].record.value), -512);
  EXPECT_EQ(seen[0].address, reinterpret_cast<uint64_t>(&block));
  EXPECT_EQ(seen[0].device, 1);
  EXPECT_EQ(seen[0].total_allocated, 512);
  EXPECT_EQ(seen[1].total_allocated, 0);
  EXPECT_EQ(seen[1].total_reserved, 2048);
  dlclose(library);
}

TEST(TorchAllocations, RequestsWithoutMemoryAreRecordedOnTheThreadThatMadeThem) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends the program that asks for so much";
#endif
  void* library = dlopen(OPSCOPE_DEVICE_ALLOCATOR, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* report = reinterpret_cast<void (*)(int64_t, size_t, size_t, int)>(dlsym(library, "ReportOutOfMemory"));
  ASSERT_NE(report, nullptr);
  constexpr int64_t kTooMuch = int64_t{1} << 46;
  const auto fail = [&] {
    EXPECT_THROW((void)at::empty({kTooMuch}, at::kByte), c10::Error);
    report(kTooMuch, 512, 2048, 1);
  };
  fail();
  const RecordedWindow window, without_memory;
  void* other = without_memory.Start();
  void* session = window.Start(torch_source_flags::kMemory);
  fail();
  std::thread(fail).join();
  TheSource().stop(session);
  fail();
  TheSource().stop(other);
  window.Close();
  without_memory.Close();

  std::vector<RecordedRange> seen;
  for (const RecordedRange& range : window.Ranges()) {
    if (range.record.kind == RecordKind::kOutOfMemory) seen.push_back(range);
  }
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(static_cast<int64_t>(seen[0].record.value), kTooMuch);
  EXPECT_EQ(seen[0].record.payload, 0u);
  EXPECT_EQ(static_cast<int64_t>(seen[1].record.value), kTooMuch);
  EXPECT_EQ(seen[1].device, 1);
  EXPECT_EQ(seen[1].total_allocated, 512);
  EXPECT_EQ(seen[1].total_reserved, 2048);
  for (const RecordedRange& range : without_memory.Ranges())
    EXPECT_NE(range.record.kind, RecordKind::kOutOfMemory);
  dlclose(library);
}

}  // namespace
}  // namespace opscope
