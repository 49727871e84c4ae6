// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/attributes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "opscope/record.h"

namespace opscope {
namespace {

using paddle_layout::Attribute;
using paddle_layout::AttributeMap;
using paddle_layout::AttributeType;

// An attribute that holds a value, which the test owns as long as it is looked at.
template <typename T>
void Set(Attribute* attribute, const char* name, AttributeType type, const T& value) {
  attribute->distance = 0;
  attribute->name = name;
  attribute->type = static_cast<uint32_t>(type);
  std::memcpy(attribute->value, static_cast<const void*>(&value), sizeof(value));
}

std::vector<uint32_t> Encoded(const Attribute& attribute) {
  std::vector<uint32_t> words(WordsOf(attribute));
  EXPECT_EQ(WriteAttribute(attribute, words.data()), words.data() + words.size());
  return words;
}

uint32_t Tag(ArgKind kind, uint32_t count = 0, uint32_t flags = 0) {
  return static_cast<uint32_t>(kind) | flags | count << 16;
}

TEST(PaddleAttributes, AreEncodedAsArguments) {
  Attribute attribute{};
  Set(&attribute, "flag", AttributeType::kBool, true);
  EXPECT_EQ(Encoded(attribute), std::vector<uint32_t>{Tag(ArgKind::kBool, 1)});
  Set(&attribute, "axis", AttributeType::kInt, int32_t{-1});
  EXPECT_EQ(Encoded(attribute), (std::vector<uint32_t>{Tag(ArgKind::kInt), 0xffffffff, 0xffffffff}));
  Set(&attribute, "epsilon", AttributeType::kFloat, 0.5f);
  EXPECT_EQ(Encoded(attribute), (std::vector<uint32_t>{Tag(ArgKind::kDouble), 0, 0x3fe00000}));
  const std::vector<int32_t> pads = {1, -2};
  Set(&attribute, "pads", AttributeType::kInts, pads);
  EXPECT_EQ(Encoded(attribute), (std::vector<uint32_t>{Tag(ArgKind::kIntList, 2), 1, 0xfffffffe}));
  const std::vector<int64_t> shape = {int64_t{1} << 32};
  Set(&attribute, "shape", AttributeType::kIntArray, shape);
  EXPECT_EQ(Encoded(attribute), (std::vector<uint32_t>{Tag(ArgKind::kIntList, 1, arg_flags::kWide), 0, 1}));
  attribute.type = 99;  // of a newer Paddle
  EXPECT_EQ(Encoded(attribute), std::vector<uint32_t>{Tag(ArgKind::kOther)});
}

TEST(PaddleAttributes, ThatAreTextsStandWithTheirNames) {
  Attribute attribute{};
  const std::string format = "NCHW", list = "a,b";
  // A std::string must not be copied by its bytes while it holds its own letters: a view of it is what is read.
  attribute.type = static_cast<uint32_t>(AttributeType::kText);
  auto* text = ::new (static_cast<void*>(attribute.value)) std::string(format);
  EXPECT_EQ(TextOf(attribute), "NCHW");
  *text = list;
  EXPECT_EQ(TextOf(attribute), "") << "it has a letter that separates";
  *text = std::string(65, 'x');
  EXPECT_EQ(TextOf(attribute), "") << "it is too long";
  text->~basic_string();
}

TEST(PaddleAttributes, AreFoundInAMapWithEmptyPlaces) {
  std::vector<Attribute> places(6);
  for (Attribute& place : places)
    place.distance = -1;
  Set(&places[1], "axis", AttributeType::kInt, int32_t{1});
  Set(&places[4], "keepdim", AttributeType::kBool, false);
  AttributeMap map{
      .entries = places.data(), .entries_less_one = 3, .hash_shift = 62, .most_lookups = 3, .load = 0.5f, .count = 2};
  std::vector<std::string> names;
  const auto note = [&names](const Attribute& attribute) { names.push_back(attribute.name); };
  ForEachAttribute(&map, note);
  EXPECT_EQ(names, (std::vector<std::string>{"axis", "keepdim"}));
  map.entries_less_one = uint64_t{1} << 40;  // no map of attributes
  ForEachAttribute(&map, note);
  ForEachAttribute(nullptr, note);
  EXPECT_EQ(names.size(), 2u);
}

}  // namespace
}  // namespace opscope
