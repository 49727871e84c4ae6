/* A third-party library that needs thread-local memory: 64 KiB of the usual kind, or some of the static block.
 * SPDX-License-Identifier: Apache-2.0 */
#ifdef TLS_STATIC
static __thread char memory[32] __attribute__((tls_model("initial-exec"), aligned(8)));
#else
static __thread char memory[65536];
#endif

char* tls_heavy_touch(void);
char* tls_heavy_touch(void) {
  memory[sizeof(memory) / 2] = 1;
  return memory;
}
