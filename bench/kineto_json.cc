// Writes a Kineto-like trace as JSON to standard output: `kineto_json SLICES [FORM [STEPS]]`. Written as Kineto writes
// it (several lines per event, arguments on lines of their own), with the mix of a training run with stacks, shapes and
// a GPU: calls of Python, operators with their arguments, runtime calls, kernels, flows from launch to kernel and from
// forward to backward, and memory instants. FORM `plain` leaves out what is different in every event ("Ev Idx"), so
// that the kept arguments repeat; FORM `bare` leaves out all arguments. STEPS: about so many steps, 0 without it, each of
// which calls what the first one calls, as those of a training do; times differ. The same numbers give the same bytes.
// SPDX-License-Identifier: Apache-2.0
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr const char* kOperators[] = {"aten::linear",     "aten::addmm",      "aten::copy_",       "aten::relu",
                                      "aten::empty",      "aten::mul",        "aten::add_",        "aten::as_strided",
                                      "aten::transpose",  "aten::mm",         "aten::sum",         "aten::convolution",
                                      "aten::batch_norm", "aten::max_pool2d", "aten::log_softmax", "aten::nll_loss"};
constexpr const char kElementwise[] =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> "
    ">(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)";
constexpr const char* kKernels[] = {
    kElementwise, "ampere_sgemm_32x128_tn",
    "void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(cudnnTensorStruct, float const*)",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"};

enum class Form { kUsual, kPlain, kBare };

struct Random {
  static constexpr uint64_t kSeed = 88172645463325252u;
  uint64_t state = kSeed;

  unsigned Pick(unsigned count) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<unsigned>((state >> 20) % count);
  }
};

struct Writer {
  Form form = Form::kUsual;
  Random program;  // chooses what is called, and starts anew with each step
  Random run;      // chooses times and addresses
  uint64_t slices = 0;
  uint64_t index = 0, correlation = 0, python_id = 0, flow = 0;
  int64_t now_ns = 1'711'964'646'000'000;

  void Begin(const char* phase, const char* category, const char* name, uint64_t tid, int64_t ns) {
    std::printf(
        "  {\n    \"ph\": \"%s\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %lu,\n    \"ts\": %ld.%03ld",
        phase, category, name, 4017, static_cast<unsigned long>(tid), static_cast<long>(ns / 1000),
        static_cast<long>(ns % 1000));
  }
  void Duration(int64_t ns) {
    std::printf(", \"dur\": %ld.%03ld", static_cast<long>(ns / 1000), static_cast<long>(ns % 1000));
    ++slices;
  }
  // The rest of an event: its arguments, as std::printf takes them.
  [[gnu::format(printf, 3, 4)]] void Arguments(bool has_index, const char* format, ...) {
    if (form != Form::kBare) {
      std::printf(",\n    \"args\": {\n      ");
      va_list values;
      va_start(values, format);
      std::vprintf(format, values);
      va_end(values);
      if (has_index && form == Form::kUsual) std::printf(",\"Ev Idx\": %lu", static_cast<unsigned long>(index));
      std::printf("\n    }");
    }
    ++index;
    std::printf("\n  },\n");
  }

  void PythonCall(int64_t ns, uint64_t caller) {
    char name[64];
    std::snprintf(name, sizeof(name), "model/layers.py(%u): forward_%u", program.Pick(400), program.Pick(40));
    Begin("X", "python_function", name, 4017, now_ns);
    Duration(ns);
    Arguments(true, "\"Python parent id\": %lu, \"Python id\": %lu", static_cast<unsigned long>(caller),
              static_cast<unsigned long>(++python_id));
  }

  void Operator(int64_t ns, bool backward) {
    const unsigned rows = 1u << program.Pick(6), columns = 64u << program.Pick(4);
    Begin("X", "cpu_op", kOperators[program.Pick(16)], backward ? 4099 : 4017, now_ns);
    Duration(ns);
    Arguments(true,
              "\"External id\": %lu,\"Record function id\": 0, \"Sequence number\": %lu, \"Fwd thread id\": %d, "
              "\"Concrete Inputs\": [\"\", \"\", \"1.\"], \"Input type\": [\"float\", \"float\", \"Scalar\"], "
              "\"Input Strides\": [[%u, 1], [%u, 1], []], \"Input Dims\": [[%u, %u], [%u, %u], []]",
              static_cast<unsigned long>(index + 1), static_cast<unsigned long>(index / 7), backward ? 1 : 0, columns,
              columns, rows, columns, rows, columns);
  }

  void Launch(int64_t ns) {
    ++correlation;
    Begin("X", "cuda_runtime", "cudaLaunchKernel", 4017, now_ns);
    Duration(ns);
    Arguments(true, "\"External id\": %lu, \"cbid\": 211, \"correlation\": %lu", static_cast<unsigned long>(index),
              static_cast<unsigned long>(correlation));
    Flow("s", "ac2g", correlation, 4017, now_ns);
  }

  void Kernel(int64_t ns) {
    const unsigned grid = 1u << program.Pick(8);
    const int64_t start = now_ns + 4000;
    std::printf(
        "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, \"tid\": 7,\n    \"ts\": %ld.%03ld",
        kKernels[program.Pick(4)], static_cast<long>(start / 1000), static_cast<long>(start % 1000));
    Duration(ns);
    Arguments(false,
              "\"External id\": %lu,\n      \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, "
              "\"correlation\": %lu,\n      \"registers per thread\": 32, \"shared memory\": 0, \"blocks per SM\": "
              "%.6f, \"warps per SM\": %.6f,\n      \"grid\": [%u, 1, 1], \"block\": [128, 1, 1], \"est. achieved "
              "occupancy %%\": %u",
              static_cast<unsigned long>(index), static_cast<unsigned long>(correlation), grid / 108.0, grid / 27.0,
              grid, program.Pick(100));
    std::printf(
        "  {\n    \"ph\": \"f\", \"id\": %lu, \"pid\": 0, \"tid\": 7, \"ts\": %ld.%03ld,\n    \"cat\": \"ac2g\", "
        "\"name\": \"ac2g\", "
        "\"bp\": \"e\"\n  },\n",
        static_cast<unsigned long>(correlation), static_cast<long>(start / 1000), static_cast<long>(start % 1000));
  }

  void Flow(const char* phase, const char* category, uint64_t id, uint64_t tid, int64_t ns) {
    std::printf(
        "  {\n    \"ph\": \"%s\", \"id\": %lu, \"pid\": 4017, \"tid\": %lu, \"ts\": %ld.%03ld,\n    \"cat\": \"%s\", "
        "\"name\": "
        "\"%s\"%s\n  },\n",
        phase, static_cast<unsigned long>(id), static_cast<unsigned long>(tid), static_cast<long>(ns / 1000),
        static_cast<long>(ns % 1000), category, category, *phase == 'f' ? ", \"bp\": \"e\"" : "");
  }

  void Memory() {
    std::printf(
        "  {\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\",\n    \"pid\": "
        "4017, \"tid\": 4017,\n"
        "    \"ts\": %ld.%03ld",
        static_cast<long>(now_ns / 1000), static_cast<long>(now_ns % 1000));
    const unsigned allocated = program.Pick(1 << 20) * 64;
    Arguments(true,
              "\"Total Reserved\": 0, \"Total Allocated\": %u, \"Bytes\": 4096, \"Device Id\": -1, \"Device Type\": 0, "
              "\"Addr\": %lu",
              allocated, static_cast<unsigned long>(94'000'000'000'000u + run.Pick(4096) * 4096));
  }

  static constexpr int64_t kModuleNs = 94'000, kSlicesOfModule = 8;  // of Module()

  // The range of a step of so many modules, which come next.
  void Step(uint64_t number, uint64_t modules) {
    program.state = Random::kSeed;
    char name[40];
    std::snprintf(name, sizeof(name), "ProfilerStep#%lu", static_cast<unsigned long>(number));
    Begin("X", "user_annotation", name, 4017, now_ns);
    Duration(static_cast<int64_t>(modules) * kModuleNs);
    Arguments(true, "\"External id\": 0");
  }

  // One step of a module: two calls of Python, three operators inside, a launch and its kernel.
  void Module() {
    const uint64_t caller = python_id;
    PythonCall(60'000, caller);
    now_ns += 2'000;
    PythonCall(50'000, python_id);
    now_ns += 3'000;
    Operator(30'000, false);
    if (program.Pick(4) == 0) Flow("s", "fwdbwd", ++flow, 4017, now_ns);
    now_ns += 2'000;
    Operator(20'000, false);
    now_ns += 1'000;
    if (program.Pick(3) == 0) Memory();
    Operator(4'000, false);
    now_ns += 6'000;
    Launch(5'000);
    Kernel(10'000 + run.Pick(20'000));
    now_ns += 50'000;
    Operator(25'000, true);
    now_ns += 30'000;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: kineto_json SLICES [usual | plain | bare [STEPS]] > FILE\n");
    return 2;
  }
  static char buffer[1 << 20];
  std::setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
  const uint64_t slices = std::strtoull(argv[1], nullptr, 10);
  Writer writer;
  const std::string_view form = argc > 2 ? argv[2] : "";
  writer.form = form == "plain" ? Form::kPlain : form == "bare" ? Form::kBare : Form::kUsual;
  std::printf(
      "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"NVIDIA A100\"\n    "
      "}\n  ],\n");
  std::printf("  \"displayTimeUnit\": \"ms\",\n  \"traceEvents\": [\n");
  const uint64_t steps = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const uint64_t modules = steps == 0 ? 0 : slices / Writer::kSlicesOfModule / steps + 1;
  for (uint64_t module = 0; writer.slices < slices; ++module) {
    if (modules > 0 && module % modules == 0) writer.Step(module / modules, modules);
    writer.Module();
  }
  std::printf(
      "  {\n    \"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": 4017, \"tid\": 0,\n    \"args\": "
      "{\n      "
      "\"name\": \"python\"\n    }\n  }\n  ],\n  \"traceName\": \"generated.json\"\n}\n");
  return std::fflush(stdout) == 0 ? 0 : 1;
}
