// Parses a scenario text such as "version=12.9;drop=7;fail=cuptiActivityFlushAll:999@2" (see fake_cupti.h). An unknown
// key or a malformed value aborts the process, because a test with a misspelled fault would pass without testing
// anything.
// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace fake {
namespace {

[[noreturn]] void Refuse(std::string_view what, std::string_view text) {
  std::fprintf(stderr, "fake_cupti: %.*s in the scenario: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(text.size()), text.data());
  std::abort();
}

template <class Number>
Number ToNumber(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) Refuse("no number", text);
  return value;
}

// "a=b" -> {a, b}; without the separator the second is empty.
std::pair<std::string_view, std::string_view> Cut(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == text.npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto [part, rest] = Cut(text, separator);
    if (!part.empty()) parts.push_back(part);
    text = rest;
  }
  return parts;
}

// "@2", "@2+" or nothing, after a code or a time.
template <class Rule>
std::string_view TakeCalls(std::string_view text, Rule& rule) {
  const auto [value, calls] = Cut(text, '@');
  if (calls.empty()) return value;
  const bool onwards = calls.back() == '+';
  rule.first = ToNumber<std::uint64_t>(onwards ? calls.substr(0, calls.size() - 1) : calls);
  if (!onwards) rule.last = rule.first;
  return value;
}

Failure ParseFailure(std::string_view text) {
  Failure failure;
  const auto [function, code] = Cut(text, ':');
  const auto [name, kind] = Cut(function, '(');
  failure.function = name;
  if (!kind.empty()) failure.kind = ToNumber<std::uint32_t>(kind.substr(0, kind.size() - 1));
  failure.code = static_cast<cupti::Result>(ToNumber<std::uint32_t>(TakeCalls(code, failure)));
  return failure;
}

Hang ParseHang(std::string_view text) {
  Hang hang;
  const auto [function, seconds] = Cut(text, ':');
  hang.function = function;
  hang.seconds = ToNumber<double>(TakeCalls(seconds, hang));
  return hang;
}

template <class Value, std::size_t N>
Value Choose(std::string_view word, const std::pair<std::string_view, Value> (&choices)[N]) {
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
  }
  Refuse("unknown word", word);
}

std::uint32_t ParseVersion(std::string_view word) {
  return Choose<std::uint32_t>(word, {{"12.1", 18}, {"12.9", 28}, {"13.0", 130001}, {"13.5", 130500}, {"99", 990001}});
}

bool ParseSwitch(std::string_view word) {
  return Choose<bool>(word, {{"0", false}, {"1", true}});
}

void Set(Scenario& scenario, std::string_view key, std::string_view value) {
  const auto number = [&] { return ToNumber<std::uint64_t>(value); };
  const auto small = [&] { return ToNumber<std::uint32_t>(value); };
  if (key == "version") {
    scenario.api = ParseVersion(value);
    if (value == "99" && scenario.longer == 0) scenario.longer = 24;
  } else if (key == "driver") {
    scenario.has_driver = Choose<bool>(value, {{"none", false}, {"yes", true}});
  } else if (key == "devices") {
    scenario.devices = small();
  } else if (key == "missing") {
    for (std::string_view name : Split(value, ','))
      scenario.missing.emplace_back(name);
  } else if (key == "fail") {
    for (std::string_view one : Split(value, ','))
      scenario.failures.push_back(ParseFailure(one));
  } else if (key == "hang") {
    for (std::string_view one : Split(value, ','))
      scenario.hangs.push_back(ParseHang(one));
  } else if (key == "holder") {
    scenario.holder = ParseHolder(value);
  } else if (key == "deliver") {
    scenario.deliver = Choose<Deliver>(
        value, {{"thread", Deliver::kThread}, {"inline", Deliver::kInline}, {"flush", Deliver::kFlush}});
  } else if (key == "flush") {
    scenario.flush_from_thread = Choose<bool>(value, {{"caller", false}, {"thread", true}});
  } else if (key == "late") {
    scenario.never_delivers = value == "never";
    if (!scenario.never_delivers) scenario.late_ms = number();
  } else if (key == "thread_buffers") {
    scenario.thread_buffers = ParseSwitch(value);
  } else if (key == "order") {
    scenario.order = Choose<Order>(value, {{"completion", Order::kCompletion},
                                           {"reversed", Order::kReversed},
                                           {"shuffled", Order::kShuffled},
                                           {"device_first", Order::kDeviceFirst}});
  } else if (key == "correlation") {
    scenario.first_correlation = small();
  } else if (key == "drop") {
    scenario.drop_every = number();
  } else if (key == "early") {
    scenario.early_ns = number();
  } else if (key == "incomplete") {
    scenario.incomplete_every = number();
  } else if (key == "unknown") {
    scenario.unknown_every = number();
  } else if (key == "longer") {
    scenario.longer = small();
    if (scenario.longer % 8 != 0) Refuse("no multiple of 8", value);
  } else if (key == "after_disable") {
    scenario.after_disable = number();
  } else if (key == "nested_driver") {
    scenario.nested_driver = ParseSwitch(value);
  } else if (key == "queue") {
    scenario.queue = number();
  } else if (key == "latency") {
    scenario.latency_ns = number();
  } else {
    Refuse("unknown key", key);
  }
}

}  // namespace

Holder ParseHolder(std::string_view word) {
  return Choose<Holder>(word, {{"none", Holder::kNone}, {"idle", Holder::kIdle}, {"recording", Holder::kRecording}});
}

Scenario ParseScenario(std::string_view text) {
  Scenario scenario;
  for (std::string_view setting : Split(text, ';')) {
    const auto [key, value] = Cut(setting, '=');
    Set(scenario, key, value);
  }
  return scenario;
}

bool HasFunction(const Scenario& scenario, std::string_view function) {
  if (std::find(scenario.missing.begin(), scenario.missing.end(), function) != scenario.missing.end()) return false;
  static constexpr std::pair<std::string_view, std::uint32_t> kSince[] = {
      {"cuptiSubscribe_v2", 130001},
      {"cuptiActivityEnableCudaEventDeviceTimestamps", 130001},
      {"cuptiActivityGetEnabledKinds", 130202},
  };
  for (const auto& [name, since] : kSince) {
    if (name == function) return scenario.api >= since;
  }
  // The activity functions of several subscribers came together.
  return !function.ends_with("_v2") || scenario.api >= 130202;
}

}  // namespace fake
