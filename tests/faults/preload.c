/* Lets one call that changes a file fail, or end the process there: also calls of C++ and Rust libraries.
 *
 * Preloaded before the C library (LD_PRELOAD); armed by faults_arm, which tests/faults/sweep.py calls through ctypes.
 * Counted are calls on paths below a folder that open for writing, write, flush, cut, rename, create and remove. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char root[4096], last[4400];
static long fail_at, calls;
static int fault; /* an errno; 0 ends the process */

void faults_arm(const char *folder, long at, int error) {
    snprintf(root, sizeof root, "%s/", folder);
    fail_at = at;
    fault = error;
    __atomic_store_n(&calls, 0, __ATOMIC_SEQ_CST);
    last[0] = 0;
}

long faults_calls(void) { return calls; }
const char *faults_last(void) { return last; }

static int hit(const char *kind, const char *path) {
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != fail_at) return 0;
    snprintf(last, sizeof last, "%s %s", kind, path);
    if (fault == 0) kill(getpid(), SIGKILL);
    errno = fault;
    return 1;
}

static int on_path(const char *kind, int folder, const char *path) {
    if (!fail_at || !path) return 0;
    char whole[8192], name[64];
    if (path[0] == '/') return strncmp(path, root, strlen(root)) == 0 && hit(kind, path);
    ssize_t size = 0;
    if (folder == AT_FDCWD) {
        if (!getcwd(whole, 4096)) return 0;
        size = (ssize_t)strlen(whole);
    } else {
        snprintf(name, sizeof name, "/proc/self/fd/%d", folder);
        if ((size = readlink(name, whole, 4096)) < 0) return 0;
    }
    snprintf(whole + size, 4096, "/%s", path);
    return strncmp(whole, root, strlen(root)) == 0 && hit(kind, whole);
}

static int on_file(const char *kind, int file) {
    if (!fail_at) return 0;
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t size = readlink(name, path, sizeof path - 2);
    if (size < 0) return 0;
    path[size] = '/'; /* so that the folder itself counts */
    path[size + 1] = 0;
    return strncmp(path, root, strlen(root)) == 0 && hit(kind, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRITES(flags) ((flags) & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))

#define OPEN(name)                                                             \
    int name(const char *path, int flags, ...) {                               \
        va_list more;                                                          \
        va_start(more, flags);                                                 \
        mode_t mode = va_arg(more, mode_t);                                    \
        va_end(more);                                                          \
        if (WRITES(flags) && on_path("open", AT_FDCWD, path)) return -1;       \
        return REAL(name)(path, flags, mode);                                  \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                           \
    int name(int folder, const char *path, int flags, ...) {                   \
        va_list more;                                                          \
        va_start(more, flags);                                                 \
        mode_t mode = va_arg(more, mode_t);                                    \
        va_end(more);                                                          \
        if (WRITES(flags) && on_path("open", folder, path)) return -1;         \
        return REAL(name)(folder, path, flags, mode);                          \
    }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                            \
    FILE *name(const char *path, const char *mode) {                           \
        if (mode[0] != 'r' && on_path("open", AT_FDCWD, path)) return NULL;    \
        return REAL(name)(path, mode);                                         \
    }
FOPEN(fopen)
FOPEN(fopen64)

ssize_t write(int file, const void *data, size_t size) {
    return on_file("write", file) ? -1 : REAL(write)(file, data, size);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
    return on_file("write", file) ? -1 : REAL(writev)(file, parts, count);
}
ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
    return on_file("write", file) ? -1 : REAL(pwrite)(file, data, size, at);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    return on_file("write", file) ? -1 : REAL(pwrite64)(file, data, size, at);
}
int ftruncate(int file, off_t size) { return on_file("truncate", file) ? -1 : REAL(ftruncate)(file, size); }
int ftruncate64(int file, off64_t size) { return on_file("truncate", file) ? -1 : REAL(ftruncate64)(file, size); }
int fsync(int file) { return on_file("fsync", file) ? -1 : 0; } /* slow, and without a loss of power without effect */
int fdatasync(int file) { return on_file("fsync", file) ? -1 : 0; }
int rename(const char *from, const char *to) {
    return on_path("rename", AT_FDCWD, to) ? -1 : REAL(rename)(from, to);
}
int renameat(int one, const char *from, int other, const char *to) {
    return on_path("rename", other, to) ? -1 : REAL(renameat)(one, from, other, to);
}
int renameat2(int one, const char *from, int other, const char *to, unsigned flags) {
    return on_path("rename", other, to) ? -1 : REAL(renameat2)(one, from, other, to, flags);
}
int mkdir(const char *path, mode_t mode) { return on_path("mkdir", AT_FDCWD, path) ? -1 : REAL(mkdir)(path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) {
    return on_path("mkdir", folder, path) ? -1 : REAL(mkdirat)(folder, path, mode);
}
int unlink(const char *path) { return on_path("unlink", AT_FDCWD, path) ? -1 : REAL(unlink)(path); }
int unlinkat(int folder, const char *path, int flags) {
    return on_path("unlink", folder, path) ? -1 : REAL(unlinkat)(folder, path, flags);
}
int rmdir(const char *path) { return on_path("rmdir", AT_FDCWD, path) ? -1 : REAL(rmdir)(path); }
int link(const char *from, const char *to) { return on_path("link", AT_FDCWD, to) ? -1 : REAL(link)(from, to); }
