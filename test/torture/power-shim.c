/*
 * Preloaded into PostgreSQL and the service: notes before each write to the files of the database and of the spool what it
 * replaces, and each sync, in one file that all processes append to. After the end of all of them power-cut.ts puts back
 * what no sync made durable, as a disk that lost its power does. Creating, renaming and deleting files is durable at once,
 * as in a journaling file system.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, BORN = 3 };
enum { DATABASE = 1, SPOOL = 2 };
/* A disk on which a kill finds writes that wait for their sync. */
#define SPOOL_SYNC_US 20000

/* In a WRITE, `old` bytes of the file follow, which began at `at`. In a SYNC, `at` is the end of the notes when it began. */
struct note {
  uint32_t kind, old;
  uint64_t inode;
  int64_t at, bytes, size;
};

static int notes = -1;
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_open)(const char *, int, ...);
static int (*real_fallocate)(int, off_t, off_t);
static int (*real_ftruncate)(int, off_t);

__attribute__((constructor)) static void begin(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_pread = dlsym(RTLD_NEXT, "pread64");
  real_writev = dlsym(RTLD_NEXT, "writev");
  real_pwritev = dlsym(RTLD_NEXT, "pwritev64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_open = dlsym(RTLD_NEXT, "open64");
  real_fallocate = dlsym(RTLD_NEXT, "posix_fallocate64");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  const char *path = getenv("IO_SHIM_CONTROL");
  /* It exists from the moment that the test begins. */
  if (path != NULL) notes = real_open(path, O_WRONLY | O_APPEND);
}

/* 0 for other files. */
static int is_file(int fd, struct stat *about) {
  if (notes < 0 || fd == notes || fstat(fd, about) != 0 || !S_ISREG(about->st_mode)) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "/data/spool/") != NULL ? SPOOL : strstr(path, "/data/postgres/") != NULL ? DATABASE : 0;
}

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

static void note(struct note head, const void *old) {
  struct iovec parts[2] = {{&head, sizeof head}, {(void *)old, head.old}};
  if (real_writev(notes, parts, head.old > 0 ? 2 : 1) < 0) abort();
}

static void before_write(int fd, off_t at, size_t bytes) {
  struct stat about;
  if (!is_file(fd, &about)) return;
  size_t old = at >= about.st_size ? 0 : (size_t)(about.st_size - at) < bytes ? (size_t)(about.st_size - at) : bytes;
  char *kept = old > 0 ? malloc(old) : NULL;
  if (old > 0 && read_back(fd, kept, old, at) != (ssize_t)old) abort();
  note((struct note){WRITE, old, about.st_ino, at, bytes, about.st_size}, kept);
  free(kept);
}

static int sync_with(int (*real)(int), int fd) {
  struct stat about;
  int kind = is_file(fd, &about);
  if (kind == 0) return real(fd);
  off_t began = lseek(notes, 0, SEEK_END);
  if (kind == SPOOL) usleep(SPOOL_SYNC_US);
  int result = real(fd);
  if (result == 0) note((struct note){SYNC, 0, about.st_ino, began, 0, 0}, NULL);
  return result;
}
int fsync(int fd) { return sync_with(real_fsync, fd); }
int fdatasync(int fd) { return sync_with(real_fdatasync, fd); }

ssize_t write(int fd, const void *bytes, size_t count) {
  struct stat about;
  if (is_file(fd, &about)) before_write(fd, lseek(fd, 0, SEEK_CUR), count);
  return real_write(fd, bytes, count);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  before_write(fd, at, count);
  return real_pwrite(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at) { return pwrite(fd, bytes, count, at); }
static size_t bytes_in(const struct iovec *pieces, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += pieces[i].iov_len;
  return bytes;
}
ssize_t writev(int fd, const struct iovec *pieces, int count) {
  struct stat about;
  if (is_file(fd, &about)) before_write(fd, lseek(fd, 0, SEEK_CUR), bytes_in(pieces, count));
  return real_writev(fd, pieces, count);
}
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t at) {
  before_write(fd, at, bytes_in(pieces, count));
  return real_pwritev(fd, pieces, count, at);
}
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off_t at) { return pwritev(fd, pieces, count, at); }

int posix_fallocate(int fd, off_t at, off_t bytes) {
  struct stat about;
  if (is_file(fd, &about) && at + bytes > about.st_size)
    note((struct note){WRITE, 0, about.st_ino, about.st_size, at + bytes - about.st_size, about.st_size}, NULL);
  return real_fallocate(fd, at, bytes);
}
int posix_fallocate64(int fd, off_t at, off_t bytes) { return posix_fallocate(fd, at, bytes); }

/* A file that grows; bytes that were cut off do not come back. */
int ftruncate(int fd, off_t bytes) {
  struct stat about;
  if (is_file(fd, &about) && bytes > about.st_size)
    note((struct note){WRITE, 0, about.st_ino, about.st_size, bytes - about.st_size, about.st_size}, NULL);
  return real_ftruncate(fd, bytes);
}
int ftruncate64(int fd, off_t bytes) { return ftruncate(fd, bytes); }

static int open_with(const char *path, int flags, mode_t mode) {
  int fd = real_open(path, flags, mode);
  struct stat about;
  /* Its number may be that of a file that was deleted. */
  if (fd >= 0 && (flags & O_CREAT) && is_file(fd, &about) && about.st_size == 0)
    note((struct note){BORN, 0, about.st_ino, 0, 0, 0}, NULL);
  return fd;
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
