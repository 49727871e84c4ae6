// The result of `opscope doctor` as "opscope.doctor/1" and as text: the machine (clock, limits, CUPTI) and, if the
// command runs inside Python, the interpreter, its frameworks and their adapters.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/doctor.h"

#include <string_view>

#include "base/escaped_text.h"
#include "base/json_object.h"
#include "base/text.h"
#include "report/human_units.h"

namespace opscope {
namespace {

void Bool(JsonObject* object, std::string* out, std::string_view key, bool value) {
  object->Key(key);
  *out += value ? "true" : "false";
}

void Limit(JsonObject* object, std::string* out, std::string_view key, uint64_t bytes) {
  object->Key(key);
  if (bytes == kUnlimited) {
    *out += "null";
  } else {
    AppendUint(out, bytes);
  }
}

void Number(JsonObject* object, std::string* out, std::string_view key, double value) {
  object->Key(key);
  AppendDouble(out, value);
}

void AppendClock(const MachineFacts& machine, std::string* out) {
  JsonObject clock(out);
  clock.Text("source", machine.clock_is_tsc ? "tsc" : "system");
  Bool(&clock, out, "tsc_is_invariant", machine.tsc_is_invariant);
  clock.Text("kernel", machine.kernel_clock);
  Number(&clock, out, "ticks_per_second", machine.ticks_per_second);
  Number(&clock, out, "read_ns", machine.clock_read_ns);
  clock.Close();
}

void AppendMachine(const MachineFacts& machine, std::string* out) {
  JsonObject object(out);
  object.Uint("processors", machine.processors);
  object.Uint("memory_bytes", machine.memory_bytes);
  Limit(&object, out, "memory_limit_bytes", machine.memory_limit_bytes);
  Limit(&object, out, "locked_memory_bytes", machine.locked_memory_bytes);
  Limit(&object, out, "file_size_bytes", machine.file_size_bytes);
  Limit(&object, out, "open_files", machine.open_files);
  object.Text("folder", machine.folder);
  object.Uint("folder_free_bytes", machine.folder_free_bytes);
  Bool(&object, out, "folder_is_writable", machine.folder_is_writable);
  object.Text("perf_event_paranoid", machine.perf_event_paranoid);
  Bool(&object, out, "perf_counters", machine.perf_counters);
  object.Uint("nvidia_gpus", machine.nvidia_gpus);
  object.Text("cupti", machine.cupti);
  object.Uint("cupti_version", machine.cupti_version);
  Bool(&object, out, "cuda_can_be_recorded", machine.cuda_can_be_recorded);
  object.Text("cuda_detail", machine.cuda_detail);
  object.Close();
}

void AppendFrameworks(const HostFacts& host, std::string* out) {
  *out += '[';
  for (size_t i = 0; i < host.frameworks.size(); ++i) {
    const HostFramework& framework = host.frameworks[i];
    *out += i == 0 ? "\n" : ",\n";
    JsonObject object(out);
    object.Text("name", framework.name);
    object.Text("version", framework.version);
    object.Text("adapter", framework.adapter);
    object.Key("can_be_profiled");  // null: not tried yet
    *out += framework.cannot_be_profiled() ? "false" : framework.was_tried ? "true" : "null";
    object.Text("detail", framework.detail);
    object.Text("install", framework.install);
    object.Text("route", framework.route);
    object.Key("left_out");
    JsonObject left_out(out);
    for (const auto& [part, reason] : framework.left_out)
      left_out.Text(part, reason);
    left_out.Close();
    object.Close();
  }
  *out += host.frameworks.empty() ? "]" : "\n]";
}

void AppendExtras(const HostFacts& host, std::string* out) {
  *out += '[';
  for (size_t i = 0; i < host.extras.size(); ++i) {
    const HostExtra& extra = host.extras[i];
    *out += i == 0 ? "\n" : ",\n";
    JsonObject object(out);
    object.Text("name", extra.name);
    object.Text("purpose", extra.purpose);
    Bool(&object, out, "is_installed", extra.missing.empty());
    object.Key("installed");
    JsonObject installed(out);
    for (const auto& [package, version] : extra.installed)
      installed.Text(package, version);
    installed.Close();
    object.Key("missing");
    *out += '[';
    for (size_t k = 0; k < extra.missing.size(); ++k) {
      if (k != 0) *out += ',';
      AppendJsonString(out, extra.missing[k]);
    }
    *out += ']';
    object.Text("install", extra.install);
    object.Close();
  }
  *out += host.extras.empty() ? "]" : "\n]";
}

void AppendHost(const HostFacts& host, JsonObject* document, std::string* out) {
  document->Key("python");
  JsonObject python(out);
  python.Text("version", host.interpreter);
  python.Text("executable", host.executable);
  python.Text("package", host.package);
  python.Close();
  document->Key("compiler");
  JsonObject compiler(out);
  Bool(&compiler, out, "found", !host.compiler.empty());
  compiler.Text("version", host.compiler);
  compiler.Text("install", host.compiler_install);
  compiler.Close();
  document->Key("cache");
  JsonObject cache(out);
  cache.Text("folder", host.cache_folder);
  cache.Text("state", host.cache_state);
  cache.Uint("adapters", host.cache_adapters);
  cache.Uint("bytes", host.cache_bytes);
  cache.Close();
}

// Lines "  name          value", under a heading.
class Page {
 public:
  void Heading(std::string_view text) {
    if (!out_.empty()) out_ += '\n';
    out_.append(text).append("\n");
  }
  void Row(std::string_view name, std::string_view value) {
    constexpr size_t kNameWidth = 16;
    out_.append("  ").append(name);
    out_.append(name.size() < kNameWidth ? kNameWidth - name.size() : 1, ' ');
    out_ += EscapedText(value);
    out_ += '\n';
  }
  std::string text() && { return std::move(out_); }

 private:
  std::string out_;
};

std::string LimitText(uint64_t bytes) {
  return bytes == kUnlimited ? "no limit" : HumanBytes(static_cast<int64_t>(bytes));
}

std::string ClockText(const MachineFacts& machine) {
  std::string text = machine.clock_is_tsc ? "TSC" : "the system's (there is no TSC to be trusted here)";
  text += ", " + FixedText(machine.clock_read_ns, 1) + " ns a read";
  if (machine.clock_is_tsc) text += ", " + FixedText(machine.ticks_per_second / 1e9, 3) + " GHz";
  if (machine.tsc_is_invariant) text += ", invariant";
  if (!machine.kernel_clock.empty()) text += "; the kernel uses " + machine.kernel_clock;
  return text;
}

std::string FrameworkText(const HostFramework& framework) {
  std::string text = framework.version + ": ";
  if (framework.adapter == "none") {
    text += "cannot be profiled: " + framework.detail;
  } else if (framework.adapter == "compile") {
    text += "not tried yet; the adapter is compiled once, at its first use";
    if (!framework.detail.empty()) text += " (" + framework.detail + ")";
  } else {
    text += framework.was_tried ? "can be profiled; " : "not tried yet; ";
    text += framework.adapter + " adapter " + framework.detail;
  }
  if (!framework.route.empty()) text += "; operators by " + framework.route;
  if (!framework.install.empty()) text += "; to change that: " + framework.install;
  return text;
}

std::string ExtraText(const HostExtra& extra) {
  std::string text = extra.purpose + ": ", separator;
  if (!extra.missing.empty()) {
    text += "without ";
    for (const std::string& package : extra.missing) {
      text.append(separator).append(package);
      separator = ", ";
    }
    return text + "; to install: " + extra.install;
  }
  for (const auto& [package, version] : extra.installed) {
    text.append(separator).append(package).append(" ").append(version);
    separator = ", ";
  }
  return text;
}

void AddHost(const HostFacts& host, Page* page) {
  page->Heading("Python");
  if (!host.is_present) {
    page->Row("python", "not looked at: this is the program without Python");
    return;
  }
  page->Row("python", host.interpreter + " (" + host.executable + ")");
  page->Row("opscope", host.package);
  page->Row("compiler", !host.compiler.empty() ? host.compiler : "none; to install one: " + host.compiler_install);
  std::string cache = host.cache_folder + ": " + host.cache_state;
  if (host.cache_adapters != 0) {
    cache += ", " + std::to_string(host.cache_adapters) + (host.cache_adapters == 1 ? " adapter, " : " adapters, ") +
             HumanBytes(static_cast<int64_t>(host.cache_bytes));
  }
  page->Row("cache", cache);
  for (const HostFramework& framework : host.frameworks) {
    page->Row(framework.name, FrameworkText(framework));
    for (const auto& [part, reason] : framework.left_out)
      page->Row("", std::string("without ").append(part).append(": ").append(reason));
  }
  if (host.frameworks.empty()) page->Row("frameworks", "none installed");
  if (host.extras.empty()) return;
  page->Heading("Extras");
  for (const HostExtra& extra : host.extras)
    page->Row(extra.name, ExtraText(extra));
}

// The path, and whether CUDA can be recorded through it.
std::string CuptiText(const MachineFacts& machine) {
  std::string text = machine.cupti.empty() ? "not found" : machine.cupti;
  if (machine.cupti_version != 0) text.append(", API ").append(std::to_string(machine.cupti_version));
  return text + (machine.cuda_can_be_recorded ? "; CUDA can be recorded" : "; " + machine.cuda_detail);
}

void AddMachine(const MachineFacts& machine, Page* page) {
  page->Heading("Machine");
  page->Row("processors", std::to_string(machine.processors));
  std::string memory = HumanBytes(static_cast<int64_t>(machine.memory_bytes));
  if (machine.memory_limit_bytes < machine.memory_bytes)
    memory += ", limited to " + LimitText(machine.memory_limit_bytes);
  page->Row("memory", memory);
  page->Row("locked memory", LimitText(machine.locked_memory_bytes));
  page->Row("file size", LimitText(machine.file_size_bytes));
  page->Row("open files", machine.open_files == kUnlimited ? "no limit" : std::to_string(machine.open_files));
  page->Row("this folder", HumanBytes(static_cast<int64_t>(machine.folder_free_bytes)) + " free, " +
                               (machine.folder_is_writable ? "writable" : "not writable") + " (" + machine.folder +
                               ")");
  page->Row("perf events", machine.perf_event_paranoid.empty()
                               ? "not in this kernel"
                               : std::string(machine.perf_counters ? "hardware counters can be read"
                                                                   : "no hardware counters for this process") +
                                     " (perf_event_paranoid " + machine.perf_event_paranoid + ")");
  page->Row("NVIDIA GPUs", std::to_string(machine.nvidia_gpus));
  page->Row("CUPTI", CuptiText(machine));
}

}  // namespace

std::string FormatDoctor(const MachineFacts& machine, const HostFacts& host) {
  Page page;
  page.Heading("opscope " + machine.opscope_version);
  page.Row("built with", machine.built_with);
  page.Row("recorder", "ABI " + std::to_string(machine.recorder_abi));
  page.Row("clock", ClockText(machine));
  AddMachine(machine, &page);
  AddHost(host, &page);
  if (!host.is_present) return std::move(page).text();
  page.Heading(!host.can_profile_everything() ? "Not all that is installed can be profiled."
               : !host.has_tried_everything() ? "Nothing is known to be in the way; not all of it has been tried yet."
                                              : "All that was found can be profiled.");
  return std::move(page).text();
}

std::string DoctorJson(const MachineFacts& machine, const HostFacts& host) {
  std::string out;
  JsonObject document(&out);
  document.Text("schema", "opscope.doctor/1");
  Bool(&document, &out, "can_profile_everything", host.can_profile_everything());
  document.Key("opscope");
  JsonObject opscope(&out);
  opscope.Text("version", machine.opscope_version);
  opscope.Text("built_with", machine.built_with);
  opscope.Uint("recorder_abi", machine.recorder_abi);
  opscope.Close();
  document.Key("clock");
  AppendClock(machine, &out);
  document.Key("machine");
  AppendMachine(machine, &out);
  if (host.is_present) {
    AppendHost(host, &document, &out);
  } else {
    for (const char* key : {"python", "compiler", "cache"}) {
      document.Key(key);
      out += "null";
    }
  }
  document.Key("frameworks");
  AppendFrameworks(host, &out);
  document.Key("extras");
  AppendExtras(host, &out);
  document.Close();
  out += '\n';
  return out;
}

}  // namespace opscope
