// What an answer rests on: the fields of `--explain`.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/basis.h"

#include <optional>
#include <vector>

#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

template <uint64_t SpanUseCounts::* kCount>
std::optional<uint64_t> UseCount(const AnswerBasis& basis) {
  return basis.use ? std::optional((*basis.use).*kCount) : std::nullopt;
}

constexpr ResultField<AnswerBasis> kBasisFields[] = {
    {{"spans", "Spans", kNumber, "Spans, without the asynchronous ones; the sum of the four that follow."},
     [](const AnswerBasis& b) { return b.spans; }},
    {{"host_spans", "Host spans", kNumber, "Spans of threads, without those of steps and of the recording itself."},
     [](const AnswerBasis& b) { return b.host_spans; }},
    {{"works", "Works of devices", kNumber, "Kernels, copies and sets."}, [](const AnswerBasis& b) { return b.works; }},
    {{"step_spans", "Spans of steps", kNumber, "Spans of steps."}, [](const AnswerBasis& b) { return b.step_spans; }},
    {{"other_spans", "Other spans", kNumber,
      "Annotations and synchronization of devices, overhead of profilers, the recording itself."},
     [](const AnswerBasis& b) { return b.other_spans; }},
    {{"async_spans", "Asynchronous spans", kNumber, "Only the summary has them, in a table of their own."},
     [](const AnswerBasis& b) { return b.async_spans; }},
    {{"left_out", "Left out by the condition", kNumber, "Spans that `--where`, `--steps` and `--time` leave out."},
     [](const AnswerBasis& b) { return b.left_out; }},
    {{"used_spans", "Spans that the answer used", kNumber,
      "The analysis read these; with `left_out`, `unread_spans` and `outside_steps` they are all spans. Null for verbs "
      "that do not say."},
     [](const AnswerBasis& b) { return UseCount<&SpanUseCounts::used>(b); }},
    {{"unread_spans", "Of kinds that it does not read", kNumber, "Spans of kinds that the analysis does not read."},
     [](const AnswerBasis& b) { return UseCount<&SpanUseCounts::unread>(b); }},
    {{"outside_steps", "Outside of steps", kNumber,
      "Spans of which no part lies in a step of their rank, where the analysis looks at steps alone."},
     [](const AnswerBasis& b) { return UseCount<&SpanUseCounts::outside_steps>(b); }},
    {{"launched_works", "Works with a launch", kNumber, "Works whose launching call is known."},
     [](const AnswerBasis& b) { return b.launched_works; }},
    {{"early_works", "Works before their launch", kNumber,
      "Works that begin before the call that launched them: the clocks of host and device differ."},
     [](const AnswerBasis& b) { return b.early_works; }},
    {{"clock_error_ns", "Clocks differ by at least", kTime, "The longest time between such a work and its launch."},
     [](const AnswerBasis& b) { return b.clock_error_ns; }},
    {{"overhead_ns", "Overhead of the recording", kTime, "Estimate of the time that recording took."},
     [](const AnswerBasis& b) { return b.overhead_ns; }},
    {{"overhead_share", "Overhead as a part of the window", kShare,
      "`overhead_ns` over `window_ns`; of a JOB over the sum of the windows of its ranks."},
     [](const AnswerBasis& b) { return b.overhead_ns ? ShareOf(*b.overhead_ns, b.recorded_ns) : std::nullopt; }},
    {{"window_ns", "Window", kTime, "From the first begin to the last end of all spans."},
     [](const AnswerBasis& b) { return b.window_ns(); }},
};

}  // namespace

const ResultDescription& BasisResult() {
  static const ResultDescription description = DescribeResult<AnswerBasis>(
      "... --explain", "explain", "What an answer rests on, of each verb that takes `--explain`.", kBasisFields, true);
  return description;
}

ResultTable BasisTable(const std::vector<AnswerBasis>& bases) {
  return MakeResultTable<AnswerBasis>(BasisResult(), kBasisFields, Trace(), bases);
}

}  // namespace opscope
