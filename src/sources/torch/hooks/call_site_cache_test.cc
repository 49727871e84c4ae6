// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/call_site_cache.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace opscope::call_site_cache {
namespace {

const int first_schema = 0, second_schema = 0;

// Addresses that no other test uses, each with a place of its own.
std::vector<const void*> SeparateCallSites(size_t count) {
  static uint64_t address = 0x7f00'0000'0000;
  std::vector<const void*> found;
  std::set<const CallSite*> taken;
  for (; found.size() < count; address += 16) {
    const auto* place = reinterpret_cast<const void*>(address);
    const CallSite& entry = call_sites.EntryOf(place);
    if (entry.known == 0 && taken.insert(&entry).second) found.push_back(place);
  }
  return found;
}

void RecordRanges(const void* place, int count, const void* schema = &first_schema) {
  for (int i = 0; i < count; ++i)
    RecordRange(place, schema);
}

TEST(CallSiteCache, AreOfOneOperatorAfterFourRangesOfIt) {
  const auto places = SeparateCallSites(2);
  RecordRanges(places[0], 3);
  EXPECT_FALSE(IsOfOneOperator(places[0]));
  RecordRanges(places[0], 1);
  EXPECT_TRUE(IsOfOneOperator(places[0]));
  RecordRanges(places[0], 1000);
  EXPECT_TRUE(IsOfOneOperator(places[0]));
  EXPECT_FALSE(IsOfOneOperator(places[1]));
}

TEST(CallSiteCache, AreNeverOfOneOperatorAfterAnotherOne) {
  for (const int before : {1, 4, 50}) {
    const void* place = SeparateCallSites(1)[0];
    RecordRanges(place, before);
    RecordRange(place, &second_schema);
    EXPECT_FALSE(IsOfOneOperator(place));
    RecordRanges(place, 100);
    EXPECT_FALSE(IsOfOneOperator(place));
  }
}

TEST(CallSiteCache, AreNeverOfOneOperatorAfterOneWithoutARange) {
  for (const int before : {0, 2, 50}) {
    const void* place = SeparateCallSites(1)[0];
    RecordRanges(place, before);
    RecordNoRange(place);
    EXPECT_FALSE(IsOfOneOperator(place));
    RecordRanges(place, 100);
    EXPECT_FALSE(IsOfOneOperator(place));
  }
}

// Of two with one entry in the table the later one is known, or none.
TEST(CallSiteCache, AreNotTakenForEachOther) {
  const void* place = SeparateCallSites(1)[0];
  const auto* later = static_cast<const char*>(place) + 16;
  while (&call_sites.EntryOf(later) != &call_sites.EntryOf(place))
    later += 16;
  RecordRanges(place, 10);
  EXPECT_FALSE(IsOfOneOperator(later));
  RecordRanges(later, 3);
  EXPECT_FALSE(IsOfOneOperator(later));
  EXPECT_FALSE(IsOfOneOperator(place));
  RecordRanges(later, 1);
  EXPECT_TRUE(IsOfOneOperator(later));
  RecordNoRange(place);
  RecordRanges(later, 10);
  EXPECT_FALSE(IsOfOneOperator(later));
}

}  // namespace
}  // namespace opscope::call_site_cache
