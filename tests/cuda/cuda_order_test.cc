// Records out of order, correlation ids that wrap, clocks that disagree, records of unknown kinds.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "cuda_window.h"

namespace opscope {
namespace {

class CudaOrder : public CudaFaults {};

// Each kernel has a flow from the call that launched it.
void ExpectFlows(const Trace& trace, size_t count) {
  size_t joined = 0;
  for (size_t i = 0; i < trace.flows().size(); ++i) {
    const SpanId begin = trace.flows().start_span[i];
    const SpanId end = trace.flows().end_span[i];
    if (begin == SpanId::kNone || end == SpanId::kNone) continue;
    EXPECT_EQ(trace.spans().kind[static_cast<size_t>(begin)], SpanKind::kRuntimeCall);
    EXPECT_EQ(trace.spans().kind[static_cast<size_t>(end)], SpanKind::kKernel);
    ++joined;
  }
  EXPECT_EQ(joined, count);
}

TEST_F(CudaOrder, OfRecordsIsNoMatter) {
  for (const char* order : {"completion", "reversed", "shuffled", "device_first"}) {
    WithEveryVersion(std::string("queue=100000;order=") + order, [] {
      const auto trace = RecordKernels(500);
      EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 500u);
      ExpectFlows(*trace, 500);
      EXPECT_EQ(trace->problems().size(), 0u) << ProblemsOf(*trace);
      ExpectNothingLeft();
    });
  }
}

TEST_F(CudaOrder, CorrelationIdsMayWrap) {
  WithEveryVersion("correlation=4294967200", [] {
    const auto trace = RecordKernels(200);
    EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 200u);
    ExpectFlows(*trace, 200);
    EXPECT_EQ(trace->problems().size(), 0u) << ProblemsOf(*trace);
    ExpectNothingLeft();
  });
}

TEST_F(CudaOrder, DevicesClockThatIsBehindIsTold) {
  WithEveryVersion("early=200000", [] {
    const auto recording = StartWindow();
    fake_cuda_call(2, 10, 2'000'000);  // so that no kernel seems to run before the window
    LaunchKernels(20);
    fake_cuda_device_synchronize(0);
    const auto trace = StopWindow(*recording);
    EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 20u) << ProblemsOf(*trace);
    EXPECT_EQ(ProblemOf(*trace, "device_clock").count, 20u) << ProblemsOf(*trace);
    ExpectNothingLeft();
  });
}

// Launched right after the begin, so that the device seems to have run before it.
TEST_F(CudaOrder, DevicesClockThatIsBehindLosesNothingAtTheWindowsBegin) {
  WithEveryVersion("early=1000000", [] {
    const auto trace = RecordKernels(20);
    EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 20u) << ProblemsOf(*trace);
    ExpectNothingLeft();
  });
}

TEST_F(CudaOrder, RecordsOfUnknownKindsAreCounted) {
  WithEveryVersion("unknown=10", [] {
    const auto trace = RecordKernels(100);
    EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 100u);
    EXPECT_EQ(ProblemOf(*trace, "device_unknown").count, fake_cupti_handed_back(777));
    EXPECT_GT(fake_cupti_handed_back(777), 10u);
    ExpectNothingLeft();
  });
}

TEST_F(CudaOrder, LongerRecordsAreReadByTheirPrefix) {
  for (const char* longer : {"longer=8", "longer=64"}) {
    WithEveryVersion(longer, [] {
      const auto trace = RecordKernels(100);
      EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 100u);
      EXPECT_EQ(CountOf(*trace, SpanKind::kRuntimeCall), 101u);
      EXPECT_EQ(trace->problems().size(), 0u) << ProblemsOf(*trace);
      ExpectNothingLeft();
    });
  }
}

TEST_F(CudaOrder, NestedDriverCallsDoNotDoubleTheFlows) {
  WithEveryVersion("nested_driver=1", [] {
    const auto trace = RecordKernels(100);
    EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 100u);
    std::map<SpanId, int> arrows;
    for (size_t i = 0; i < trace->flows().size(); ++i)
      ++arrows[trace->flows().end_span[i]];
    arrows.erase(SpanId::kNone);
    EXPECT_EQ(arrows.size(), 100u);
    for (const auto& [span, count] : arrows)
      EXPECT_EQ(count, 1);
    ExpectNothingLeft();
  });
}

TEST_F(CudaOrder, GraphsNodesHaveTheirOwnSpans) {
  WithEveryVersion("", [] {
    const auto recording = StartWindow();
    const uint32_t graph = fake_cuda_graph_create();
    fake_cuda_graph_add_kernel(graph, "first", 1000);
    fake_cuda_graph_add_memcpy(graph, 8, 4096);
    fake_cuda_graph_add_memset(graph, 4096);
    fake_cuda_graph_add_kernel(graph, "last", 1000);
    for (int turn = 0; turn < 10; ++turn)
      fake_cuda_graph_launch(graph, kStream);
    fake_cuda_device_synchronize(0);
    const auto trace = StopWindow(*recording);
    const auto kernels = NamesOf(*trace, SpanKind::kKernel);
    EXPECT_EQ(std::count(kernels.begin(), kernels.end(), "first"), 10);
    EXPECT_EQ(std::count(kernels.begin(), kernels.end(), "last"), 10);
    EXPECT_EQ(CountOf(*trace, SpanKind::kCopy), 10u);
    EXPECT_EQ(trace->problems().size(), 0u) << ProblemsOf(*trace);
    ExpectNothingLeft();
  });
}

// Device times against the host's: within 100 us, and a call within the time that it took here.
TEST_F(CudaOrder, TimesAreTheHosts) {
  WithEveryVersion("", [] {
    const auto recording = StartWindow();
    fake_cuda_launch(kStream, "k", 1'000'000, 1, 32);
    fake_cuda_device_synchronize(0);
    const auto trace = StopWindow(*recording);
    const auto& spans = trace->spans();
    int64_t launched = -1, begun = -1, ended = -1, waited = -1;
    for (size_t i = 0; i < spans.size(); ++i) {
      const auto start = spans.start[i].ns;
      const auto end = start + spans.duration[i].ns;
      if (spans.kind[i] == SpanKind::kKernel) begun = start, ended = end;
      if (trace->text(spans.name[i]) == "cudaLaunchKernel") launched = start;
      if (trace->text(spans.name[i]) == "cudaDeviceSynchronize") waited = end;
    }
    ASSERT_GE(launched, 0);
    ASSERT_GE(waited, 0);
    EXPECT_GE(begun, launched);
    EXPECT_LE(ended, waited + 100'000);
    EXPECT_NEAR(static_cast<double>(ended - begun), 1e6, 100 + 200);
  });
}

}  // namespace
}  // namespace opscope
