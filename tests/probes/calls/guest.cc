// guest: meets probes of qsort(), getenv(), strtol(), pause() and qsort_r() in
// every way that leaves a call other than by its return, and prints what a
// program without probes prints, too.
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf back;
static volatile int handled;

static int
throws(const void *, const void *)
{
	throw 7;
}

static int
jumps(const void *, const void *)
{
	longjmp(back, 3);
}

static int
asks(const void *a, const void *b)
{
	getenv("IN_CALLBACK");
	return *(const int *)a - *(const int *)b;
}

static void
on_signal(int)
{
	handled = getenv("IN_HANDLER") == nullptr;
}

static void *
waits(void *)
{
	for (;;)
		pause();
}

static void
leave()
{
	int v[4] = { 4, 3, 2, 1 };
	volatile int i;

	for (i = 0; i < 3; i++)
		try {
			qsort(v, 4, sizeof *v, throws);
			puts("qsort returned");
		} catch (int n) {
			printf("caught %d\n", n);
		}
	for (i = 0; i < 3; i++)
		if (setjmp(back) == 0)
			qsort(v, 4, sizeof *v, jumps);
		else
			puts("jumped");
	qsort(v, 4, sizeof *v, asks);
	printf("sorted %d %d %d %d\n", v[0], v[1], v[2], v[3]);
}

static int
child_status(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void
processes()
{
	pid_t pid = vfork();

	if (pid == 0) {
		getenv("IN_VFORK");
		_exit(5);
	}
	printf("vfork %d\n", child_status(pid));
	pid = fork();
	if (pid == 0) {
		getenv("IN_FORK");
		_exit(6);
	}
	printf("fork %d\n", child_status(pid));
}

// An alternate stack of the least size that the system names.
static void
signals()
{
	static char stack[16384];
	stack_t ss = {};
	struct sigaction sa = {};

	ss.ss_sp = stack;
	ss.ss_size = 8192;
	sigaltstack(&ss, nullptr);
	sa.sa_handler = on_signal;
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &sa, nullptr);
	raise(SIGUSR1);
	printf("handled %d\n", handled);
}

static void
threads(int rounds)
{
	static long sums[4];
	std::vector<std::thread> v;
	pthread_t waiting;
	void *result;

	for (int i = 0; i < 4; i++)
		v.emplace_back([i, rounds] {
			for (int k = 0; k < rounds; k++)
				sums[i] += strtol(k & 1 ? "17" : "25",
				    nullptr, 10);
		});
	for (auto &t : v)
		t.join();
	printf("sums %ld %ld %ld %ld\n", sums[0], sums[1], sums[2], sums[3]);
	pthread_create(&waiting, nullptr, waits, nullptr);
	pthread_cancel(waiting);
	pthread_join(waiting, &result);
	printf("cancelled %d\n", result == PTHREAD_CANCELED);
}

// Wrong pointers, and texts that end where the memory does.
static void
edges()
{
	char *page = (char *)mmap(nullptr, 8192, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	mprotect(page + 4096, 4096, PROT_NONE);
	memset(page, 'E', 4096);
	memcpy(page + 4096 - 4, "EDG", 4);
	printf("edge %d\n", getenv(page + 4096 - 4) == nullptr);
	errno = 0;
	fd = open((const char *)1, O_RDONLY);
	printf("open %d %d\n", fd, errno);
	errno = 0;
	fd = open(page + 4096, O_RDONLY);
	printf("open %d %d\n", fd, errno);
	page[4095] = 'E';
	errno = 0;
	fd = open(page, O_RDONLY);
	printf("open %d %d\n", fd, errno);
	errno = 77;
	getenv("ERRNO");
	printf("errno %d\n", errno);
}

int
main(int argc, char **argv)
{
	const char *name = getenv("GUEST_NAME");

	printf("name %s\n", name != nullptr ? name : "-");
	leave();
	processes();
	signals();
	edges();
	threads(argc > 1 ? atoi(argv[1]) : 100);
	fflush(stdout);
	if (argc > 1)
		return 0;
	close(0);
	close(1);
	close(2);
	getenv("ALL_CLOSED");
	_exit(9);
}
