/* Linked into builds with --coverage: when and where a program writes what it counted.

   GCC's library writes a file beside each object file, when the program ends as usual. This code also writes
   where the program crashes, or ends in haste. If EXHUME_COUNTS names a file, all counts go there instead:
   a solver has some 800 object files, and to write, read and delete as many files for each run takes longer
   than most runs. A record of it is the length of a name, that of the counts (4 bytes each, of this machine),
   the name of the file that GCC's library would write, and what it would have in it. */

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void __gcov_dump(void);

#if !defined(__clang__) && __GNUC__ >= 12

/* Of what GCC's library has for each object file, only the place of the next one is used. */
struct gcov_info;
extern struct {
    struct gcov_info *first;
    unsigned is_written : 1;
} __gcov_root __attribute__((visibility("hidden")));
void __gcov_info_to_gcda(
    const struct gcov_info *, void (*name)(const char *, void *), void (*add)(const void *, unsigned, void *),
    void *(*allocate)(unsigned, void *), void *);

static struct {
    unsigned name_length, counts_length;
    char bytes[16 << 20];
} record;
static unsigned used;

static void add(const void *data, unsigned length, void *unused) {
    if (length > sizeof record.bytes - used) _exit(3);
    memcpy(record.bytes + used, data, length);
    used += length;
}

static void add_name(const char *name, void *unused) {
    add(name, record.name_length = strlen(name), unused);
}

static void *allocate(unsigned length, void *unused) {
    return malloc(length);
}

static void write_all(int file, const char *data, size_t length) {
    while (length) {
        ssize_t written = write(file, data, length);
        if (written <= 0) _exit(3);
        data += written;
        length -= written;
    }
}

static int write_one_file(void) {
    const char *name = getenv("EXHUME_COUNTS");
    if (!name) return 0;
    if (__gcov_root.is_written) return 1;
    __gcov_root.is_written = 1;
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) _exit(3);
    struct gcov_info *next = __gcov_root.first;
    for (; next; next = ((struct gcov_info **)next)[1]) {
        used = 0;
        __gcov_info_to_gcda(next, add_name, add, allocate, 0);
        record.counts_length = used - record.name_length;
        write_all(file, (const char *)&record, sizeof record - sizeof record.bytes + used);
    }
    close(file);
    return 1;
}

/* Just before GCC's library writes its files, at priority 100. */
__attribute__((destructor(101))) static void end(void) {
    write_one_file();
}

#else

static int write_one_file(void) {
    return 0;
}

#endif

static void write_counts(void) {
    if (!write_one_file()) __gcov_dump();
}

static void crashed(int number) {
    signal(number, SIG_DFL);
    alarm(10);
    write_counts();
    raise(number);
}

__attribute__((constructor)) static void begin(void) {
    static const int numbers[] = {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGTERM};
    for (unsigned at = 0; at < sizeof numbers / sizeof *numbers; ++at) signal(numbers[at], crashed);
}

void _Exit(int code) {
    write_counts();
    _exit(code);
}
