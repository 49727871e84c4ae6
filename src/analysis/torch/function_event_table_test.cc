// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/function_event_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "analysis/random_trace_for_test.h"

namespace opscope {
namespace {

const TableColumn& ColumnNamed(const TableView& table, std::string_view name) {
  for (const TableColumn& column : table.columns) {
    if (column.name == name) return column;
  }
  static const TableColumn none;
  ADD_FAILURE() << "no column " << name;
  return none;
}

template <typename T>
const T* Values(const TableView& table, std::string_view name) {
  return static_cast<const T*>(ColumnNamed(table, name).data);
}

std::string_view TextAt(const Trace& trace, const TableView& table, StringId id) {
  const bool is_own = Row(id) >= table.first_own_text;
  return is_own ? table.own_texts[Row(id) - table.first_own_text] : trace.text(id);
}

TEST(FunctionEventTable, SaysOfEveryEventWhatTheListSays) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Trace trace = RandomTrace(seed, {});
    const FunctionEvents events = BuildFunctionEvents(trace);
    const FunctionEventTable made(trace, events);
    const TableView& table = made.view();
    ASSERT_EQ(table.rows, events.size());
    for (size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(TextAt(trace, table, Values<StringId>(table, "name")[i]), NameText(trace, events, i));
      EXPECT_EQ(Values<double>(table, "start_us")[i], events.start_us[i]);
      EXPECT_EQ(Values<EventIndex>(table, "cpu_parent")[i], events.parent[i]);
      const bool is_async = (events.flags[i] & function_event_flags::kAsync) != 0;
      EXPECT_EQ(Values<uint8_t>(table, "is_async")[i], is_async ? 1 : 0);
      EXPECT_EQ(Values<double>(table, "self_cpu_time_total_us")[i], is_async ? 0 : SelfCpuTimeTotal(events, i));
    }
  }
}

TEST(FunctionEventTable, HasEachTextOnce) {
  const Trace trace = RandomTrace(3, {});
  const FunctionEvents events = BuildFunctionEvents(trace);
  const FunctionEventTable made(trace, events);
  const auto& texts = made.view().own_texts;
  EXPECT_EQ(std::set<std::string_view>(texts.begin(), texts.end()).size(), texts.size());
}

TEST(FunctionEventTable, DoesNotCopyTheColumnsOfTheList) {
  const Trace trace = RandomTrace(4, {});
  const FunctionEvents events = BuildFunctionEvents(trace);
  const FunctionEventTable made(trace, events);
  EXPECT_EQ(ColumnNamed(made.view(), "start_us").data, events.start_us.data());
  EXPECT_EQ(ColumnNamed(made.view(), "name").data, events.name.data());
}

TEST(FunctionEventTable, OfNoEventsHasColumnsWithoutRows) {
  const Trace trace;
  const FunctionEvents events = BuildFunctionEvents(trace);
  const FunctionEventTable made(trace, events);
  EXPECT_EQ(made.view().rows, 0u);
  EXPECT_FALSE(made.view().columns.empty());
}

}  // namespace
}  // namespace opscope
