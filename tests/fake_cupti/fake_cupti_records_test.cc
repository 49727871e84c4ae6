// Records of the simulated CUPTI in each version.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tool_for_test.h"

namespace fake {
namespace {

class FakeCuptiRecords : public testing::TestWithParam<const char*> {
 protected:
  std::string version() const { return std::string("version=") + GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Versions, FakeCuptiRecords, testing::Values("12.1", "12.9", "13.0", "13.5", "99"),
                         [](const auto& version) {
                           std::string name = version.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST_P(FakeCuptiRecords, KernelHasWhatItsLaunchSays) {
  Tool tool(version());
  tool.Start({ActivityKind::kConcurrentKernel, ActivityKind::kRuntime});
  const FakeCudaLaunch launch{{4, 5, 6}, {32, 2, 1}, 40, 1024, 2048, kFakeRuntimeLaunchEx};
  const std::uint32_t correlation = fake_cuda_launch_shaped(7, "gemm", 5000, &launch);
  tool.Stop();
  const auto kernels = tool.RecordsOf<cupti::Kernel9>(ActivityKind::kConcurrentKernel);
  ASSERT_EQ(kernels.size(), 1U);
  const cupti::Kernel9& kernel = *kernels[0];
  EXPECT_STREQ(kernel.name, "gemm");
  EXPECT_EQ(kernel.grid_y, 5);
  EXPECT_EQ(kernel.block_y, 2);
  EXPECT_EQ(kernel.registers_per_thread, 40);
  EXPECT_EQ(kernel.static_shared_memory, 1024);
  EXPECT_EQ(kernel.dynamic_shared_memory, 2048);
  EXPECT_EQ(kernel.stream, 7U);
  EXPECT_EQ(kernel.context, 1U);
  EXPECT_EQ(kernel.correlation, correlation);
  EXPECT_EQ(kernel.end - kernel.start, 5000U);
  EXPECT_EQ(fake_cupti_violations(), 0U) << fake_cupti_violation_text();
}

TEST_P(FakeCuptiRecords, CallComesBeforeItsKernelBegins) {
  Tool tool(version());
  tool.Start({ActivityKind::kConcurrentKernel, ActivityKind::kRuntime});
  const std::uint32_t correlation = fake_cuda_launch(7, "k", 1000, 1, 32);
  tool.Stop();
  const auto calls = tool.RecordsOf<cupti::Api>(ActivityKind::kRuntime);
  const auto launch = std::find_if(calls.begin(), calls.end(),
                                   [&](const cupti::Api* call) { return call->correlation == correlation; });
  ASSERT_NE(launch, calls.end());
  const char* name = nullptr;
  ASSERT_EQ(CUPTI(GetCallbackName)(cupti::CallbackDomain::kRuntimeApi, (*launch)->cbid, &name), Result::kSuccess);
  EXPECT_STREQ(name, "cudaLaunchKernel_v7000");
  const auto kernels = tool.RecordsOf<cupti::Kernel9>(ActivityKind::kConcurrentKernel);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_GE(kernels[0]->start, (*launch)->start);
}

TEST_P(FakeCuptiRecords, WalkerFindsAllOfManyKinds) {
  Tool tool(version());
  tool.Start({ActivityKind::kConcurrentKernel, ActivityKind::kMemcpy, ActivityKind::kMemcpy2, ActivityKind::kMemset,
              ActivityKind::kRuntime, ActivityKind::kDriver, ActivityKind::kOverhead, ActivityKind::kSynchronization,
              ActivityKind::kMemory2, ActivityKind::kContext, ActivityKind::kStream, ActivityKind::kDevice});
  for (int turn = 0; turn < 100; ++turn) {
    fake_cuda_launch(7, "k", 100, 1, 32);
    fake_cuda_memcpy(7, 1, 1, 3, 4096, 1);
    fake_cuda_memcpy_peer(7, 0, 1, 64);
    fake_cuda_memset(7, 0, 64);
    fake_cuda_overhead(1 << 16, 10);
    fake_cuda_free(fake_cuda_malloc(0, 100));
    fake_cuda_stream_synchronize(7);
  }
  tool.Stop();
  std::map<ActivityKind, int> counts;
  for (const cupti::Activity* record : tool.Records())
    ++counts[record->kind];
  EXPECT_EQ(counts[ActivityKind::kConcurrentKernel], 100);
  EXPECT_EQ(counts[ActivityKind::kMemcpy], 100);
  EXPECT_EQ(counts[ActivityKind::kMemcpy2], 100);
  EXPECT_EQ(counts[ActivityKind::kMemset], 100);
  EXPECT_EQ(counts[ActivityKind::kOverhead], 100);
  EXPECT_EQ(counts[ActivityKind::kMemory2], 200);
  EXPECT_EQ(counts[ActivityKind::kSynchronization], 101);
  EXPECT_EQ(counts[ActivityKind::kContext], 1);
  EXPECT_EQ(counts[ActivityKind::kDevice], 1);
  EXPECT_EQ(fake_cupti_issued(0), fake_cupti_handed_back(0));
  EXPECT_EQ(tool.Records().size(), fake_cupti_handed_back(0));
}

TEST_P(FakeCuptiRecords, GraphsNodesShareTheLaunchsCorrelation) {
  Tool tool(version());
  tool.Start({ActivityKind::kConcurrentKernel, ActivityKind::kMemset, ActivityKind::kRuntime});
  const std::uint32_t graph = fake_cuda_graph_create();
  const std::uint64_t first = fake_cuda_graph_add_kernel(graph, "a", 500);
  const std::uint64_t second = fake_cuda_graph_add_memset(graph, 64);
  const std::uint32_t correlation = fake_cuda_graph_launch(graph, 7);
  tool.Stop();
  const auto kernels = tool.RecordsOf<cupti::Kernel9>(ActivityKind::kConcurrentKernel);
  const auto sets = tool.RecordsOf<cupti::Memset4>(ActivityKind::kMemset);
  ASSERT_EQ(kernels.size(), 1U);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(kernels[0]->graph_node_id, first);
  EXPECT_EQ(sets[0]->graph_node_id, second);
  EXPECT_EQ(kernels[0]->correlation, correlation);
  EXPECT_EQ(sets[0]->correlation, correlation);
  EXPECT_GE(sets[0]->start, kernels[0]->end);
}

TEST(FakeCupti, HostNodeHasTheLaunchsCorrelationUnlessItWasQueued) {
  Tool tool("version=13.5");
  tool.Start({ActivityKind::kConcurrentKernel, ActivityKind::kGraphHostNode, ActivityKind::kRuntime});
  const std::uint32_t graph = fake_cuda_graph_create();
  fake_cuda_graph_add_kernel(graph, "a", 100'000'000);
  const std::uint64_t node = fake_cuda_graph_add_host(graph, 700);
  const std::uint32_t first = fake_cuda_graph_launch(graph, 7);
  const std::uint32_t queued = fake_cuda_graph_launch(graph, 7);
  tool.Stop();
  const auto kernels = tool.RecordsOf<cupti::Kernel9>(ActivityKind::kConcurrentKernel);
  const auto nodes = tool.RecordsOf<cupti::GraphHostNode>(ActivityKind::kGraphHostNode);
  ASSERT_EQ(kernels.size(), 2U);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0]->correlation, first);
  EXPECT_EQ(nodes[1]->correlation, 0U);
  EXPECT_EQ(kernels[1]->correlation, queued);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(nodes[i]->graph_node_id, node);
    EXPECT_EQ(nodes[i]->graph_id, graph);
    EXPECT_EQ(nodes[i]->thread, fake_cuda_host_thread());
    EXPECT_EQ(nodes[i]->stream, 7U);
    EXPECT_EQ(nodes[i]->end - nodes[i]->start, 700U);
    EXPECT_GE(nodes[i]->start, kernels[i]->end);
  }
}

TEST(FakeCupti, HasHostNodesInNewVersionsAlone) {
  for (const char* version : {"12.1", "12.9", "13.0"}) {
    Tool tool(std::string("version=") + version);
    EXPECT_EQ(CUPTI(ActivityEnable)(ActivityKind::kGraphHostNode), cupti::Result::kInvalidKind) << version;
  }
}

TEST_P(FakeCuptiRecords, TraceOfAGraphHidesItsNodes) {
  Tool tool(version());
  tool.Start({ActivityKind::kConcurrentKernel, ActivityKind::kGraphTrace});
  const std::uint32_t graph = fake_cuda_graph_create();
  fake_cuda_graph_add_kernel(graph, "a", 500);
  fake_cuda_graph_add_kernel(graph, "b", 500);
  fake_cuda_graph_launch(graph, 7);
  tool.Stop();
  const auto traces = tool.RecordsOf<cupti::GraphTrace>(ActivityKind::kGraphTrace);
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_EQ(traces[0]->graph, graph);
  EXPECT_GE(traces[0]->end - traces[0]->start, 1000U);
  EXPECT_TRUE(tool.RecordsOf<cupti::Kernel9>(ActivityKind::kConcurrentKernel).empty());
}

TEST(FakeCupti, ExternalIdPrecedesTheCall) {
  Tool tool("version=13.0");
  tool.Start({ActivityKind::kRuntime, ActivityKind::kExternalCorrelation});
  CUPTI(ActivityPushExternalCorrelationId)(cupti::ExternalCorrelationKind::kCustom2, 77);
  const std::uint32_t inside = fake_cuda_launch(7, "k", 100, 1, 32);
  std::uint64_t last = 0;
  EXPECT_EQ(CUPTI(ActivityPopExternalCorrelationId)(cupti::ExternalCorrelationKind::kCustom2, &last), Result::kSuccess);
  EXPECT_EQ(last, 77U);
  EXPECT_EQ(CUPTI(ActivityPopExternalCorrelationId)(cupti::ExternalCorrelationKind::kCustom2, &last),
            Result::kQueueEmpty);
  fake_cuda_launch(7, "k", 100, 1, 32);
  tool.Stop();
  const auto records = tool.Records();
  const auto external = std::find_if(records.begin(), records.end(), [](const cupti::Activity* record) {
    return record->kind == ActivityKind::kExternalCorrelation;
  });
  ASSERT_NE(external, records.end());
  EXPECT_EQ(reinterpret_cast<const cupti::ExternalCorrelation*>(*external)->external_id, 77U);
  EXPECT_EQ(reinterpret_cast<const cupti::ExternalCorrelation*>(*external)->correlation, inside);
  EXPECT_EQ((*(external + 1))->kind, ActivityKind::kRuntime);
  EXPECT_EQ(reinterpret_cast<const cupti::Api*>(*(external + 1))->correlation, inside);
  EXPECT_EQ(fake_cupti_issued(static_cast<std::uint32_t>(ActivityKind::kExternalCorrelation)), 1U);
}

TEST(FakeCupti, StreamWaitsForTheEventOfAnother) {
  Tool tool("version=13.0");
  tool.Start({ActivityKind::kConcurrentKernel, ActivityKind::kSynchronization, ActivityKind::kCudaEvent});
  const std::uint32_t other = fake_cuda_stream_create(0, 0);
  const std::uint32_t event = fake_cuda_event_create();
  fake_cuda_launch(7, "first", 300000, 1, 32);
  fake_cuda_event_record(event, 7);
  fake_cuda_stream_wait_event(other, event);
  fake_cuda_launch(other, "second", 1000, 1, 32);
  tool.Stop();
  const auto kernels = tool.RecordsOf<cupti::Kernel9>(ActivityKind::kConcurrentKernel);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_STREQ(kernels[0]->name, "first");
  EXPECT_GE(kernels[1]->start, kernels[0]->end);
  const auto events = tool.RecordsOf<cupti::CudaEvent2>(ActivityKind::kCudaEvent);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]->first.event, event);
  const auto waits = tool.RecordsOf<cupti::Synchronization>(ActivityKind::kSynchronization);
  ASSERT_FALSE(waits.empty());
  EXPECT_EQ(waits[0]->type, cupti::SyncType::kStreamWaitEvent);
  EXPECT_EQ(waits[0]->stream, other);
}

TEST(FakeCupti, DevicesAreDumpedOnRequest) {
  Tool tool("version=13.5;devices=3");
  tool.Start({});
  EXPECT_EQ(CUPTI(ActivityEnableAndDump)(ActivityKind::kDevice), Result::kSuccess);
  fake_cuda_launch(1007, "k", 10, 1, 1);
  CUPTI(ActivityDisable)(ActivityKind::kDevice);
  CUPTI(ActivityFlushAll)(1);
  const auto devices = tool.RecordsOf<cupti::Device6>(ActivityKind::kDevice);
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[2]->first.first.id, 2U);
  EXPECT_EQ(devices[2]->first.first.multiprocessors, 132U);
}

TEST(FakeCupti, CorrelationIdsWrapWithoutZero) {
  Tool tool("version=13.0;correlation=4294967294");
  tool.Start({ActivityKind::kConcurrentKernel});
  std::vector<std::uint32_t> ids;
  for (int turn = 0; turn < 4; ++turn)
    ids.push_back(fake_cuda_launch(7, "k", 10, 1, 1));
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{4294967294U, 4294967295U, 1, 2}));
}

TEST(FakeCupti, NestedDriverCallSharesTheCorrelation) {
  Tool tool("version=13.0;nested_driver=1");
  tool.Start({ActivityKind::kRuntime, ActivityKind::kDriver});
  const std::uint32_t correlation = fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  const auto drivers = tool.RecordsOf<cupti::Api>(ActivityKind::kDriver);
  ASSERT_FALSE(drivers.empty());
  EXPECT_EQ(drivers[0]->correlation, correlation);
}

TEST(FakeCupti, ThreadIsTheSystemsOnRequest) {
  Tool tool("version=13.0");
  CUPTI(SetThreadIdType)(cupti::ThreadIdType::kSystem);
  tool.Start({ActivityKind::kRuntime});
  fake_cuda_call(2, 10, 0);
  tool.Stop();
  EXPECT_EQ(tool.RecordsOf<cupti::Api>(ActivityKind::kRuntime)[0]->thread, static_cast<std::uint32_t>(gettid()));
}

}  // namespace
}  // namespace fake
