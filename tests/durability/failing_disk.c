// SPDX-License-Identifier: Apache-2.0
//
// A disk that fails on command: an LD_PRELOAD library between a server and its file system.
//
// A test maps a control file, whose layout is `struct control` below, and so decides at run time which
// call on which file fails, hangs, or is the last thing that the process does. Calls on other files, and
// all calls while nothing is armed, go through untouched.
//
//   DROVER_FAILING_DISK   path of the control file
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum operation {
  FDATASYNC = 1,
  FSYNC = 2,
  PWRITE = 4,
  RENAME = 8,
  FTRUNCATE = 16,
  FALLOCATE = 32,
  UNLINK = 64
};
enum action { FAIL = 1, KILL = 2, DELAY = 3, TEAR = 4 };

struct control {
  uint32_t armed;       // written last by the test
  uint32_t operations;  // which calls, a set of enum operation
  int32_t skip;         // so many matching calls go through first
  int32_t times;        // then so many are hit
  uint32_t action;      // enum action
  int32_t error;        // errno of FAIL and TEAR
  uint32_t delay_ms;    // before the action
  uint32_t hits;        // calls that were hit
  uint32_t inside;      // calls that are being delayed right now
  char pattern[256];    // of the path, as fnmatch() takes it
};

static struct control *control;

__attribute__((constructor)) static void open_control(void) {
  const char *path = getenv("DROVER_FAILING_DISK");
  if (!path) return;
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    // A test that believes in faults which never come would pass for the wrong reason.
    fprintf(stderr, "failing_disk: cannot map %s\n", path);
    _exit(125);
  }
  close(fd);
  control = memory;
}

static void sleep_ms(uint32_t ms) {
  struct timespec left = {ms / 1000, (long)(ms % 1000) * 1000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

// True if this call must fail. The delay is over when it returns, and KILL does not return.
static int is_hit(enum operation operation, const char *path) {
  if (!control || !__atomic_load_n(&control->armed, __ATOMIC_ACQUIRE)) return 0;
  if (!(control->operations & operation) || fnmatch(control->pattern, path, 0) != 0) return 0;
  if (__atomic_sub_fetch(&control->skip, 1, __ATOMIC_ACQ_REL) >= 0) return 0;
  if (__atomic_sub_fetch(&control->times, 1, __ATOMIC_ACQ_REL) < 0) return 0;
  __atomic_add_fetch(&control->inside, 1, __ATOMIC_ACQ_REL);
  __atomic_add_fetch(&control->hits, 1, __ATOMIC_ACQ_REL);
  if (control->action == KILL) raise(SIGKILL);
  if (control->delay_ms) sleep_ms(control->delay_ms);
  __atomic_sub_fetch(&control->inside, 1, __ATOMIC_ACQ_REL);
  return control->action != DELAY;
}

static int is_hit_fd(enum operation operation, int fd) {
  if (!control || !__atomic_load_n(&control->armed, __ATOMIC_ACQUIRE)) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return is_hit(operation, path);
}

static int failed(void) {
  errno = control->error;
  return -1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fdatasync(int fd) { return is_hit_fd(FDATASYNC, fd) ? failed() : REAL(fdatasync)(fd); }

int fsync(int fd) { return is_hit_fd(FSYNC, fd) ? failed() : REAL(fsync)(fd); }

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
  if (!is_hit_fd(PWRITE, fd)) return REAL(pwrite)(fd, bytes, size, offset);
  // A write that fails may have come half way.
  if (control->action == TEAR && REAL(pwrite)(fd, bytes, size / 2, offset) < 0) return -1;
  return failed();
}

int rename(const char *from, const char *to) {
  return is_hit(RENAME, to) ? failed() : REAL(rename)(from, to);
}

int ftruncate(int fd, off_t size) { return is_hit_fd(FTRUNCATE, fd) ? failed() : REAL(ftruncate)(fd, size); }

int fallocate(int fd, int mode, off_t offset, off_t size) {
  return is_hit_fd(FALLOCATE, fd) ? failed() : REAL(fallocate)(fd, mode, offset, size);
}

int unlink(const char *path) { return is_hit(UNLINK, path) ? failed() : REAL(unlink)(path); }

// The same calls under the names that programs with 64-bit offsets are linked to.
ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));
int ftruncate64(int, off_t) __attribute__((alias("ftruncate")));
int fallocate64(int, int, off_t, off_t) __attribute__((alias("fallocate")));
