// SPDX-License-Identifier: Apache-2.0
//
// A wall clock that is wrong, and jumps: an LD_PRELOAD library that adds to CLOCK_REALTIME what a test has
// written into a shared file. The monotonic clock is not changed, as when an operator sets the
// time of a machine.
//
//   DROVER_FALSE_CLOCK   path of a file with one int64: milliseconds to add
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t *offset_ms;
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void open_offset(void) {
  real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("DROVER_FALSE_CLOCK");
  if (!path) return;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *offset_ms, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "false_clock: cannot map %s\n", path);
    _exit(125);
  }
  close(fd);
  offset_ms = memory;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  // Others may ask before the constructor has run.
  if (!real_clock_gettime) open_offset();
  const int status = real_clock_gettime(clock, now);
  if (status != 0 || clock != CLOCK_REALTIME || !offset_ms) return status;
  const int64_t ms = __atomic_load_n(offset_ms, __ATOMIC_RELAXED);
  now->tv_sec += ms / 1000;
  now->tv_nsec += ms % 1000 * 1000000;
  if (now->tv_nsec >= 1000000000) {
    now->tv_sec += 1;
    now->tv_nsec -= 1000000000;
  } else if (now->tv_nsec < 0) {
    now->tv_sec -= 1;
    now->tv_nsec += 1000000000;
  }
  return status;
}

int gettimeofday(struct timeval *now, void *zone) {
  (void)zone;
  struct timespec exact;
  const int status = clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return status;
}
