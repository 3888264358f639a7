/* Linked into builds with --coverage: when and where a program writes what it counted.

   GCC's library writes a file beside each object file, when the program ends as usual. This code also writes
   where the program crashes, or ends in haste. If EXHUME_COUNTS names a file, all counts go there instead:
   a solver has some 800 object files, and to write, read and delete as many files for each run takes longer
   than most runs. A record of it is the length of a name, that of the counts (4 bytes each, of this machine),
   the name of the file that GCC's library would write, and what it would have in it of functions that ran. */

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

static const char *object_name;
static unsigned words[4 << 20], used;

static void take_name(const char *name, void *unused) {
    object_name = name;
}

static void add(const void *data, unsigned length, void *unused) {
    if (length > sizeof words - 4 * used) _exit(3);
    memcpy(words + used, data, length);
    used += length / 4;
}

static void *allocate(unsigned length, void *unused) {
    return malloc(length);
}

/* Leave out the functions that did not run: most. Four words come first, then records: a tag, a number of
   bytes, and as many bytes. Of counts that are all 0 there is only the number, negative. */
static void shorten(void) {
    enum { head = 4, function = 0x01000000 };
    unsigned kept = head, begin = head, at = head;
    int has_run = 1;
    while (at + 2 <= used) {
        int bytes = words[at + 1];
        unsigned length = 2 + (bytes > 0 ? bytes / 4 : 0);
        if (words[at] == function) {
            if (!has_run) kept = begin;
            begin = kept;
            has_run = 0;
        } else if (bytes > 0) {
            has_run = 1;
        }
        memmove(words + kept, words + at, 4 * length);
        kept += length;
        at += length;
    }
    used = has_run ? kept : begin;
}

static void write_all(int file, const void *data, size_t length) {
    while (length) {
        ssize_t written = write(file, data, length);
        if (written <= 0) _exit(3);
        data = (const char *)data + written;
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
        __gcov_info_to_gcda(next, take_name, add, allocate, 0);
        shorten();
        unsigned lengths[] = {strlen(object_name), 4 * used};
        write_all(file, lengths, sizeof lengths);
        write_all(file, object_name, lengths[0]);
        write_all(file, words, lengths[1]);
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
