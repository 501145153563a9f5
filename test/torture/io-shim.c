/*
 * Preloaded into PostgreSQL, or into the service: lets the n-th write, sync or open of the files of the database, or of the
 * spool, fail, as told through a file that is mapped into every process. A sync of the log or of a segment of the spool
 * that fails takes what it should have made durable with it, as a disk does: the bytes since the last good sync are put
 * back to what they were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITES = 1, SYNCS = 2, OPENS = 4 };
enum { OTHER = 0, LOG = 1, DATA = 2, SPOOL = 4 };
#define SEGMENT (16 * 1024 * 1024)

struct control {
  volatile int32_t left;  /* calls until one fails; 0: none does */
  volatile int32_t error; /* errno; -1: half of the bytes are written and told */
  volatile int32_t calls; /* which kinds of calls count */
  volatile int32_t files; /* which kinds of files count */
  volatile int32_t hits;
  volatile int32_t lock;
  volatile uint64_t inode; /* of the segment kept below */
  volatile int64_t from, to; /* bytes of it written since its last good sync */
  char durable[SEGMENT];
};

static struct control *shared;
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_open)(const char *, int, ...);
static int (*real_fallocate)(int, off_t, off_t);

__attribute__((constructor)) static void begin(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_pread = dlsym(RTLD_NEXT, "pread64");
  real_pwritev = dlsym(RTLD_NEXT, "pwritev64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_open = dlsym(RTLD_NEXT, "open64");
  real_fallocate = dlsym(RTLD_NEXT, "posix_fallocate64");
  const char *path = getenv("IO_SHIM_CONTROL");
  int fd = path == NULL ? -1 : real_open(path, O_RDWR);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped != MAP_FAILED) shared = mapped;
}

static int kind_of_path(const char *path) {
  if (strstr(path, "pg_wal/") != NULL) return LOG;
  if (strstr(path, "/spool/segment-") != NULL) return SPOOL;
  if (strstr(path, "base/") != NULL || strstr(path, "global/") != NULL || strstr(path, "pg_xact/") != NULL) return DATA;
  return OTHER;
}

static int kind_of(int fd, int *is_segment) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return OTHER;
  path[length] = 0;
  int kind = kind_of_path(path);
  const char *name = strrchr(path, '/');
  if (is_segment != NULL) *is_segment = kind == SPOOL || (kind == LOG && name != NULL && strlen(name + 1) == 24);
  return kind;
}

/* Whether this is the call that fails. */
static int fails(int call, int kind) {
  if (shared == NULL || shared->left <= 0 || !(shared->calls & call) || !(shared->files & kind)) return 0;
  if (__sync_fetch_and_sub(&shared->left, 1) != 1) return 0;
  __sync_fetch_and_add(&shared->hits, 1);
  return 1;
}

static void lock(void) {
  while (__sync_lock_test_and_set(&shared->lock, 1)) usleep(50);
}
static void unlock(void) { __sync_lock_release(&shared->lock); }

/* Also of a file that was opened for writing alone. */
static ssize_t read_back(int fd, void *into, size_t bytes, off_t at) {
  ssize_t got = real_pread(fd, into, bytes, at);
  if (got >= 0) return got;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int readable = real_open(link, O_RDONLY);
  got = real_pread(readable, into, bytes, at);
  close(readable);
  return got;
}

static void before_log_write(int fd, off_t at, size_t bytes) {
  struct stat about;
  if (fstat(fd, &about) != 0) return;
  lock();
  if (shared->inode != about.st_ino) {
    memset(shared->durable, 0, SEGMENT);
    read_back(fd, shared->durable, SEGMENT, 0);
    shared->inode = about.st_ino;
    shared->from = shared->to = 0;
  }
  if (shared->from == shared->to) {
    shared->from = at;
    shared->to = at + (off_t)bytes;
  } else {
    if (at < shared->from) shared->from = at;
    if (at + (off_t)bytes > shared->to) shared->to = at + (off_t)bytes;
  }
  unlock();
}

/* What a sync made durable, or what a failed one lost. */
static void after_log_sync(int fd, int failed) {
  struct stat about;
  if (fstat(fd, &about) != 0) return;
  lock();
  if (shared->inode == about.st_ino && shared->to > shared->from && shared->to <= SEGMENT) {
    size_t bytes = shared->to - shared->from;
    if (failed) real_pwrite(fd, shared->durable + shared->from, bytes, shared->from);
    else read_back(fd, shared->durable + shared->from, bytes, shared->from);
    shared->from = shared->to = 0;
  }
  unlock();
}

static int sync_with(int (*real)(int), int fd) {
  if (shared == NULL) return real(fd);
  int segment = 0;
  int kind = kind_of(fd, &segment);
  if (fails(SYNCS, kind)) {
    if (segment) after_log_sync(fd, 1);
    errno = shared->error > 0 ? shared->error : EIO;
    return -1;
  }
  int result = real(fd);
  if (segment && result == 0) after_log_sync(fd, 0);
  return result;
}
int fsync(int fd) { return sync_with(real_fsync, fd); }
int fdatasync(int fd) { return sync_with(real_fdatasync, fd); }

ssize_t write(int fd, const void *bytes, size_t count) {
  if (shared != NULL && shared->left > 0 && fails(WRITES, kind_of(fd, NULL))) {
    if (shared->error < 0) return real_write(fd, bytes, count / 2);
    errno = shared->error;
    return -1;
  }
  return real_write(fd, bytes, count);
}

static ssize_t write_at(int fd, const void *bytes, size_t count, off_t at) {
  if (shared == NULL) return real_pwrite(fd, bytes, count, at);
  int segment = 0;
  int kind = kind_of(fd, &segment);
  if (segment) before_log_write(fd, at, count);
  if (fails(WRITES, kind)) {
    if (shared->error < 0) return real_pwrite(fd, bytes, count / 2, at);
    errno = shared->error;
    return -1;
  }
  return real_pwrite(fd, bytes, count, at);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return write_at(fd, bytes, count, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at) { return write_at(fd, bytes, count, at); }

static ssize_t write_pieces_at(int fd, const struct iovec *pieces, int count, off_t at) {
  if (shared == NULL) return real_pwritev(fd, pieces, count, at);
  int segment = 0;
  int kind = kind_of(fd, &segment);
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += pieces[i].iov_len;
  if (segment) before_log_write(fd, at, bytes);
  if (fails(WRITES, kind)) {
    if (shared->error < 0) return real_pwrite(fd, pieces[0].iov_base, pieces[0].iov_len / 2, at);
    errno = shared->error;
    return -1;
  }
  return real_pwritev(fd, pieces, count, at);
}
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t at) { return write_pieces_at(fd, pieces, count, at); }
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off_t at) { return write_pieces_at(fd, pieces, count, at); }

static int allocate(int fd, off_t at, off_t bytes) {
  if (shared != NULL && shared->left > 0 && fails(WRITES, kind_of(fd, NULL)))
    return shared->error > 0 ? shared->error : ENOSPC;
  return real_fallocate(fd, at, bytes);
}
int posix_fallocate(int fd, off_t at, off_t bytes) { return allocate(fd, at, bytes); }
int posix_fallocate64(int fd, off_t at, off_t bytes) { return allocate(fd, at, bytes); }

static int open_with(const char *path, int flags, mode_t mode) {
  if (shared != NULL && shared->left > 0 && fails(OPENS, kind_of_path(path))) {
    errno = shared->error > 0 ? shared->error : EMFILE;
    return -1;
  }
  return real_open(path, flags, mode);
}
#define OPENING                          \
  mode_t mode = 0;                       \
  if (flags & (O_CREAT | O_TMPFILE)) {   \
    va_list further;                     \
    va_start(further, flags);            \
    mode = va_arg(further, mode_t);      \
    va_end(further);                     \
  }                                      \
  return open_with(path, flags, mode)
int open(const char *path, int flags, ...) { OPENING; }
int open64(const char *path, int flags, ...) { OPENING; }
