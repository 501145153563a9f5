/*
 * Preloaded into a process: moves its wall clock by the milliseconds in a file, at any time. Clocks that never jump are left
 * alone, as by an operator or a time service that sets the clock of a machine.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *moved_ms;
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
  real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("IO_SHIM_CONTROL");
  int fd = path == NULL ? -1 : open(path, O_RDONLY);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof *moved_ms, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped != MAP_FAILED) moved_ms = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = real_clock_gettime(clock, now);
  if (result != 0 || moved_ms == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  int64_t ns = now->tv_nsec + (*moved_ms % 1000) * 1000000;
  now->tv_sec += *moved_ms / 1000 + (ns < 0 ? -1 : ns / 1000000000);
  now->tv_nsec = ns < 0 ? ns + 1000000000 : ns % 1000000000;
  return 0;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec exact;
  int result = clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return result;
}
time_t time(time_t *at) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (at != NULL) *at = exact.tv_sec;
  return exact.tv_sec;
}
