// The behaviour that the simulated CUPTI is configured with (fake_cupti.h documents the text form).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/cuda/cupti_abi.h"

namespace fake {

namespace cupti = opscope::cuda::cupti;

struct Failure {
  std::string function;
  std::optional<std::uint32_t> kind;
  cupti::Result code;
  std::uint64_t first = 1;  // calls from `first` to `last`
  std::uint64_t last = ~std::uint64_t{0};
};

struct Hang {
  std::string function;
  double seconds;
  std::uint64_t first = 1;
  std::uint64_t last = ~std::uint64_t{0};
};

enum class Holder { kNone, kIdle, kRecording };
enum class Deliver { kThread, kInline, kFlush };
enum class Order { kCompletion, kReversed, kShuffled, kDeviceFirst };

struct Scenario {
  std::uint32_t api = 130001;
  bool has_driver = true;
  std::uint32_t devices = 1;
  std::vector<std::string> missing;
  std::vector<Failure> failures;
  std::vector<Hang> hangs;
  Holder holder = Holder::kNone;
  Deliver deliver = Deliver::kThread;
  bool flush_from_thread = false;
  std::optional<std::uint64_t> late_ms;
  bool never_delivers = false;
  std::optional<bool> thread_buffers;
  Order order = Order::kCompletion;
  std::uint32_t first_correlation = 1;
  std::uint64_t drop_every = 0;
  std::uint64_t early_ns = 0;
  std::uint64_t incomplete_every = 0;
  std::uint64_t unknown_every = 0;
  std::uint32_t longer = 0;
  std::uint64_t after_disable = 0;
  bool nested_driver = false;
  std::uint64_t queue = 1024;
  std::uint64_t latency_ns = 2000;
};

// Ends the process with a message where the text is no scenario.
Scenario ParseScenario(std::string_view text);
Holder ParseHolder(std::string_view word);

// Whether a library of that API version has the function. `function`: "cuptiSubscribe_v2".
bool HasFunction(const Scenario& scenario, std::string_view function);

}  // namespace fake
