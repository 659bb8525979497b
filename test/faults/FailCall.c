/* Preloaded into a program: counts its calls of one function from main() on, and lets one of them
 * fail as a machine does that is short of something.
 *
 *   NB_FAIL_CALL    write, rename, fsync, mmap, malloc, ...: a name of the table below
 *   NB_FAIL_NUMBER  which call fails, from 1; 0 or unset: none
 *   NB_FAIL_COUNT   a file of 8 bytes that holds the number of calls, also after a crash
 *
 * A write that fails writes half of its bytes before. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum call {
  CLOSE,
  FALLOCATE,
  FSYNC,
  MEMFD,
  MMAP,
  MALLOC,
  OPEN,
  READ,
  RENAME,
  STAT,
  THREAD,
  TRUNCATE,
  WRITE
};

static const struct {
  const char *name;
  int error;
} calls[] = {
    [CLOSE] = {"close", EIO},
    [FALLOCATE] = {"fallocate", ENOSPC},
    [FSYNC] = {"fsync", EIO},
    [MEMFD] = {"memfd_create", ENFILE},
    [MMAP] = {"mmap", ENOMEM},
    [MALLOC] = {"malloc", ENOMEM},
    [OPEN] = {"open", EMFILE},
    [READ] = {"read", EIO},
    [RENAME] = {"rename", EIO},
    [STAT] = {"stat", EIO},
    [THREAD] = {"pthread_create", EAGAIN},
    [TRUNCATE] = {"ftruncate", ENOSPC},
    [WRITE] = {"write", ENOSPC},
};

static int chosen = -1;
static uint64_t failing;
static _Atomic uint64_t ownCount;
static _Atomic uint64_t *count = &ownCount;
static atomic_int inMain;

static int fails(enum call call) {
  if ((int)call != chosen || !inMain)
    return 0;
  const uint64_t number = atomic_fetch_add(count, 1) + 1;
  if (number != failing)
    return 0;
  errno = calls[call].error;
  return 1;
}

/* The function that is stood in for. */
#define REAL(name, type)                                                                           \
  static type *real;                                                                               \
  if (!real)                                                                                       \
  real = (type *)dlsym(RTLD_NEXT, name)

static void configure(void) {
  const char *name = getenv("NB_FAIL_CALL"), *number = getenv("NB_FAIL_NUMBER");
  const char *file = getenv("NB_FAIL_COUNT");
  const int descriptor = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
  if (descriptor >= 0) {
    void *shared = mmap(0, 8, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (shared != MAP_FAILED)
      count = shared;
  }
  failing = number ? strtoull(number, 0, 10) : 0;
  for (unsigned i = 0; name && i != sizeof calls / sizeof *calls; ++i)
    if (!strcmp(name, calls[i].name))
      chosen = (int)i;
}

typedef int Main(int, char **, char **);
static Main *programsMain;

static int mainWithFaults(int argc, char **argv, char **environment) {
  configure();
  inMain = 1;
  const int status = programsMain(argc, argv, environment);
  inMain = 0; /* calls of the C library on exit are its own */
  return status;
}

int __libc_start_main(Main *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*linker)(void), void *stack) {
  typedef int Start(Main *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
  REAL("__libc_start_main", Start);
  programsMain = main;
  return real(mainWithFaults, argc, argv, init, fini, linker, stack);
}

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

#define NO_MEMORY fails(MALLOC)

void *malloc(size_t size) { return NO_MEMORY ? 0 : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return NO_MEMORY ? 0 : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return NO_MEMORY ? 0 : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) {
  return NO_MEMORY ? 0 : __libc_memalign(alignment, size);
}
int posix_memalign(void **result, size_t alignment, size_t size) {
  void *memory = NO_MEMORY ? 0 : __libc_memalign(alignment, size);
  if (!memory)
    return ENOMEM;
  *result = memory;
  return 0;
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
  typedef ssize_t Write(int, const void *, size_t);
  REAL("write", Write);
  if (!fails(WRITE))
    return real(descriptor, bytes, size);
  if (size > 1)
    (void)!real(descriptor, bytes, size / 2);
  errno = calls[WRITE].error;
  return -1;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  typedef ssize_t Write(int, const void *, size_t, off_t);
  REAL("pwrite", Write);
  if (!fails(WRITE))
    return real(descriptor, bytes, size, offset);
  if (size > 1)
    (void)!real(descriptor, bytes, size / 2, offset);
  errno = calls[WRITE].error;
  return -1;
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  typedef int Allocate(int, int, off_t, off_t);
  REAL("fallocate", Allocate);
  return fails(FALLOCATE) ? -1 : real(descriptor, mode, offset, size);
}

ssize_t read(int descriptor, void *bytes, size_t size) {
  typedef ssize_t Read(int, void *, size_t);
  REAL("read", Read);
  return fails(READ) ? -1 : real(descriptor, bytes, size);
}

ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset) {
  typedef ssize_t Read(int, void *, size_t, off_t);
  REAL("pread", Read);
  return fails(READ) ? -1 : real(descriptor, bytes, size, offset);
}

/* A close that fails has closed. */
int close(int descriptor) {
  typedef int Close(int);
  REAL("close", Close);
  const int failed = fails(CLOSE), status = real(descriptor);
  if (!failed)
    return status;
  errno = calls[CLOSE].error;
  return -1;
}

int fsync(int descriptor) {
  typedef int Sync(int);
  REAL("fsync", Sync);
  return fails(FSYNC) ? -1 : real(descriptor);
}

int fdatasync(int descriptor) {
  typedef int Sync(int);
  REAL("fdatasync", Sync);
  return fails(FSYNC) ? -1 : real(descriptor);
}

int ftruncate(int descriptor, off_t size) {
  typedef int Truncate(int, off_t);
  REAL("ftruncate", Truncate);
  return fails(TRUNCATE) ? -1 : real(descriptor, size);
}

int rename(const char *from, const char *to) {
  typedef int Rename(const char *, const char *);
  REAL("rename", Rename);
  return fails(RENAME) ? -1 : real(from, to);
}

int renameat(int fromFolder, const char *from, int toFolder, const char *to) {
  typedef int Rename(int, const char *, int, const char *);
  REAL("renameat", Rename);
  return fails(RENAME) ? -1 : real(fromFolder, from, toFolder, to);
}

int open(const char *path, int flags, ...) {
  typedef int Open(const char *, int, ...);
  REAL("open", Open);
  __builtin_va_list more;
  __builtin_va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? __builtin_va_arg(more, mode_t) : 0;
  __builtin_va_end(more);
  return fails(OPEN) ? -1 : real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
  typedef int Open(int, const char *, int, ...);
  REAL("openat", Open);
  __builtin_va_list more;
  __builtin_va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? __builtin_va_arg(more, mode_t) : 0;
  __builtin_va_end(more);
  return fails(OPEN) ? -1 : real(folder, path, flags, mode);
}

int stat(const char *path, struct stat *status) {
  typedef int Stat(const char *, struct stat *);
  REAL("stat", Stat);
  return fails(STAT) ? -1 : real(path, status);
}

int fstat(int descriptor, struct stat *status) {
  typedef int Stat(int, struct stat *);
  REAL("fstat", Stat);
  return fails(STAT) ? -1 : real(descriptor, status);
}

int memfd_create(const char *name, unsigned flags) {
  typedef int Create(const char *, unsigned);
  REAL("memfd_create", Create);
  return fails(MEMFD) ? -1 : real(name, flags);
}

void *mmap(void *where, size_t size, int protection, int flags, int descriptor, off_t offset) {
  typedef void *Map(void *, size_t, int, int, int, off_t);
  REAL("mmap", Map);
  return fails(MMAP) ? MAP_FAILED : real(where, size, protection, flags, descriptor, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
  typedef int Create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  REAL("pthread_create", Create);
  return fails(THREAD) ? EAGAIN : real(thread, attributes, start, argument);
}
