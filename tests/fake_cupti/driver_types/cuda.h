// The types of CUDA's driver that CUPTI's headers name, for checking our declarations against them where only the wheel
// of CUPTI is installed: cuda.h is in another one. No record of ours holds one by value but the 16 bytes of a CUuuid.
// SPDX-License-Identifier: Apache-2.0
#pragma once

typedef struct CUctx_st* CUcontext;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUmod_st* CUmodule;
typedef struct CUgraph_st* CUgraph;
typedef struct CUgraphNode_st* CUgraphNode;
typedef struct CUgraphExec_st* CUgraphExec;
typedef int CUdevice;
typedef enum CUdevice_attribute_enum { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1 } CUdevice_attribute;
typedef enum CUresult_enum { CUDA_SUCCESS = 0 } CUresult;
typedef enum CUgraphNodeType_enum { CU_GRAPH_NODE_TYPE_KERNEL = 0 } CUgraphNodeType;
typedef enum CUsharedconfig_enum { CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE = 0 } CUsharedconfig;
typedef enum CUclusterSchedulingPolicy_enum { CU_CLUSTER_SCHEDULING_POLICY_DEFAULT = 0 } CUclusterSchedulingPolicy;
typedef enum CUdevWorkqueueConfigScope_enum { CU_WORKQUEUE_SCOPE_DEVICE_CTX = 0 } CUdevWorkqueueConfigScope;
typedef enum CUlogicalEndpointType_enum { CU_LOGICAL_ENDPOINT_TYPE_INVALID = 0 } CUlogicalEndpointType;
typedef enum CUstreamAttrID_enum { CU_LAUNCH_ATTRIBUTE_IGNORE = 0 } CUstreamAttrID;
typedef union CUstreamAttrValue_union {
  char pad[64];
} CUstreamAttrValue;
typedef struct CUuuid_st {
  char bytes[16];
} CUuuid;
typedef struct CUaccessPolicyWindow_st {
  void* base_ptr;
} CUaccessPolicyWindow;
