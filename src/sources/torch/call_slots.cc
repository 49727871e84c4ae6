// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/call_slots.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace opscope {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
constexpr uint32_t kAddressSlot = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT;
constexpr uint32_t kAddressSlot = R_AARCH64_GLOB_DAT;
#else
#error "opscope knows the linker's tables of x86-64 and of aarch64"
#endif

struct Search {
  std::string_view library;
  const char* symbol;
  std::vector<CallSlot>* found;
};

// What the dynamic section of a library says.
struct Tables {
  const ElfW(Rela) * calls = nullptr;
  const ElfW(Rela) * others = nullptr;
  size_t calls_bytes = 0, others_bytes = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
};

Tables ReadTables(const ElfW(Dyn) * entry) {
  Tables tables;
  for (; entry->d_tag != DT_NULL; ++entry) {
    const auto address = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_JMPREL:
        tables.calls = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_PLTRELSZ:
        tables.calls_bytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        tables.others = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_RELASZ:
        tables.others_bytes = entry->d_un.d_val;
        break;
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_STRTAB:
        tables.names = reinterpret_cast<const char*>(address);
        break;
      default:
        break;
    }
  }
  return tables;
}

bool IsProtected(const dl_phdr_info* library, uintptr_t place) {
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = library->dlpi_phdr[i];
    const uintptr_t begin = library->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_RELRO && place >= begin && place < begin + header.p_memsz) return true;
  }
  return false;
}

int SearchLibrary(dl_phdr_info* library, size_t /*size*/, void* context) {
  const auto* search = static_cast<const Search*>(context);
  std::string_view file = library->dlpi_name;
  file.remove_prefix(file.rfind('/') + 1);
  if (!file.starts_with(search->library)) return 0;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = library->dlpi_phdr[i];
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(library->dlpi_addr + header.p_vaddr);
  }
  if (dynamic == nullptr) return 0;
  const Tables tables = ReadTables(dynamic);
  if (tables.symbols == nullptr || tables.names == nullptr) return 0;
  const auto scan = [&](const ElfW(Rela)* entries, size_t bytes, uint32_t type) {
    if (entries == nullptr) return;
    for (size_t i = 0; i < bytes / sizeof(*entries); ++i) {
      if (ELF64_R_TYPE(entries[i].r_info) != type) continue;
      const char* name = tables.names + tables.symbols[ELF64_R_SYM(entries[i].r_info)].st_name;
      if (std::strcmp(name, search->symbol) != 0) continue;
      const uintptr_t place = library->dlpi_addr + entries[i].r_offset;
      search->found->push_back({reinterpret_cast<void**>(place), IsProtected(library, place)});
    }
  };
  scan(tables.calls, tables.calls_bytes, kJumpSlot);
  scan(tables.others, tables.others_bytes, kAddressSlot);
  return 0;
}

}  // namespace

std::vector<CallSlot> FindCallSlots(const char* library, const char* symbol) {
  std::vector<CallSlot> found;
  Search search{library, symbol, &found};
  dl_iterate_phdr(&SearchLibrary, &search);
  return found;
}

bool PointCallSlot(const CallSlot& slot, void* target) {
  const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(slot.place) & ~(page_bytes - 1));
  if (slot.is_protected && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot.place, target, __ATOMIC_RELEASE);
  if (slot.is_protected) mprotect(page, page_bytes, PROT_READ);
  return true;
}

}  // namespace opscope
