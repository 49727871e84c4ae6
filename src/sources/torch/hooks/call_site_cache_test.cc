// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/call_site_cache.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace opscope::asking_places {
namespace {

const int first_schema = 0, second_schema = 0;

// Addresses that no other test uses, each with a place of its own.
std::vector<const void*> SeparatePlaces(size_t count) {
  static uint64_t address = 0x7f00'0000'0000;
  std::vector<const void*> found;
  std::set<const Place*> taken;
  for (; found.size() < count; address += 16) {
    const auto* place = reinterpret_cast<const void*>(address);
    const Place& entry = places.EntryOf(place);
    if (entry.known == 0 && taken.insert(&entry).second) found.push_back(place);
  }
  return found;
}

void NoteRanges(const void* place, int count, const void* schema = &first_schema) {
  for (int i = 0; i < count; ++i)
    NoteRange(place, schema);
}

TEST(AskingPlaces, AreOfOneOperatorAfterFourRangesOfIt) {
  const auto places = SeparatePlaces(2);
  NoteRanges(places[0], 3);
  EXPECT_FALSE(IsOfOneOperator(places[0]));
  NoteRanges(places[0], 1);
  EXPECT_TRUE(IsOfOneOperator(places[0]));
  NoteRanges(places[0], 1000);
  EXPECT_TRUE(IsOfOneOperator(places[0]));
  EXPECT_FALSE(IsOfOneOperator(places[1]));
}

TEST(AskingPlaces, AreNeverOfOneOperatorAfterAnotherOne) {
  for (const int before : {1, 4, 50}) {
    const void* place = SeparatePlaces(1)[0];
    NoteRanges(place, before);
    NoteRange(place, &second_schema);
    EXPECT_FALSE(IsOfOneOperator(place));
    NoteRanges(place, 100);
    EXPECT_FALSE(IsOfOneOperator(place));
  }
}

TEST(AskingPlaces, AreNeverOfOneOperatorAfterOneWithoutARange) {
  for (const int before : {0, 2, 50}) {
    const void* place = SeparatePlaces(1)[0];
    NoteRanges(place, before);
    NoteNoRange(place);
    EXPECT_FALSE(IsOfOneOperator(place));
    NoteRanges(place, 100);
    EXPECT_FALSE(IsOfOneOperator(place));
  }
}

// Of two with one entry in the table the later one is known, or none.
TEST(AskingPlaces, AreNotTakenForEachOther) {
  const void* place = SeparatePlaces(1)[0];
  const auto* later = static_cast<const char*>(place) + 16;
  while (&places.EntryOf(later) != &places.EntryOf(place))
    later += 16;
  NoteRanges(place, 10);
  EXPECT_FALSE(IsOfOneOperator(later));
  NoteRanges(later, 3);
  EXPECT_FALSE(IsOfOneOperator(later));
  EXPECT_FALSE(IsOfOneOperator(place));
  NoteRanges(later, 1);
  EXPECT_TRUE(IsOfOneOperator(later));
  NoteNoRange(place);
  NoteRanges(later, 10);
  EXPECT_FALSE(IsOfOneOperator(later));
}

}  // namespace
}  // namespace opscope::asking_places
