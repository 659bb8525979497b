// A system that permits other perf events, for LD_PRELOAD: NB_TEST_PERF_EVENTS=none refuses all,
// and =cycles counts the clock of a thread in place of cycles.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i != 6; ++i)
    a[i] = va_arg(list, long);
  va_end(list);
  const char *permitted = getenv("NB_TEST_PERF_EVENTS");
  struct perf_event_attr changed;
  if (number == SYS_perf_event_open && permitted) {
    if (strcmp(permitted, "none") == 0) {
      errno = EACCES;
      return -1;
    }
    memcpy(&changed, (const void *)a[0], sizeof(changed));
    if (changed.type == PERF_TYPE_HARDWARE) {
      changed.type = PERF_TYPE_SOFTWARE;
      changed.config = PERF_COUNT_SW_CPU_CLOCK;
    }
    a[0] = (long)&changed;
  }
  long (*const original)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return original(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
