// SPDX-License-Identifier: Apache-2.0
#include "sources/streams/address_cache.h"

#include <gtest/gtest.h>

#include <set>

namespace opscope {
namespace {

struct Known {
  const void* key = nullptr;
  int value = 0;
};

TEST(AddressCache, FindsTheEntryOfAnAddressAgain) {
  AddressCache<Known, 4> cache;
  const int here = 0;
  cache.EntryOf(&here) = {&here, 7};
  EXPECT_EQ(cache.EntryOf(&here).key, &here);
  EXPECT_EQ(cache.EntryOf(&here).value, 7);
}

TEST(AddressCache, BeginsEmptyAndHasTwoToThePowerOfItsBitsEntries) {
  AddressCache<Known, 4> cache;
  EXPECT_EQ(std::distance(cache.begin(), cache.end()), 16);
  for (const Known& entry : cache)
    EXPECT_EQ(entry.key, nullptr);
}

// Objects of one array, words of code, pages: the addresses that programs have are regular.
TEST(AddressCache, SpreadsRegularAddressesOverMostEntries) {
  for (const uintptr_t distance : {1u, 8u, 16u, 64u, 4096u}) {
    AddressCache<Known, 8> cache;
    std::set<const Known*> used;
    for (uintptr_t i = 0; i < 256; ++i)
      used.insert(&cache.EntryOf(reinterpret_cast<const void*>(0x7f0000000000 + i * distance)));
    EXPECT_GT(used.size(), 128u) << "addresses that are " << distance << " bytes apart";
  }
}

}  // namespace
}  // namespace opscope
