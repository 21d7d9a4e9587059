// SPDX-License-Identifier: GPL-2.0
/*
 * The threads that run inputs.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "run.h"
#include "step.h"

/* Longer than any input takes on the slowest machine. */
#define INPUT_S		100

static pthread_barrier_t begin, end;
static const struct input *current;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turns = PTHREAD_COND_INITIALIZER;
static bool finished[STEPS_MAX];	/* guarded by turn */
static int start_error;

/* @bytes, then a page that nobody can touch. */
static void arena_make(struct arena *arena, size_t bytes, int prot)
{
	u8 *base = mmap(NULL, bytes + 4096, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(base, bytes, prot);
	*arena = (struct arena){ base, base + bytes };
}

static int prepare(struct worker *w)
{
	arena_make(&w->request, 8192, PROT_READ | PROT_WRITE);
	arena_make(&w->keys, 1 << 18, PROT_READ | PROT_WRITE);
	arena_make(&w->lens, 1 << 14, PROT_READ | PROT_WRITE);
	arena_make(&w->out, 1 << 16, PROT_READ | PROT_WRITE);
	arena_make(&w->constant, 1 << 16, PROT_READ);
	w->fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	return trace_open(&w->trace);
}

static bool all_finished(u32 before)
{
	u32 i;

	for (i = 0; i < before; i++) {
		if (!finished[i])
			return false;
	}
	return true;
}

/* Steps that race begin at once; others when all before them are done. */
static void wait_for_turn(const struct input *input, u32 i)
{
	if (input->steps[i].thread & STEP_RACES)
		return;
	pthread_mutex_lock(&turn);
	while (!all_finished(i))
		pthread_cond_wait(&turns, &turn);
	pthread_mutex_unlock(&turn);
}

static void finish(u32 i)
{
	pthread_mutex_lock(&turn);
	finished[i] = true;
	pthread_cond_broadcast(&turns);
	pthread_mutex_unlock(&turn);
}

static void run_mine(struct worker *w, const struct input *input)
{
	u32 i;

	for (i = 0; i < input->count; i++) {
		if ((input->steps[i].thread & ~STEP_RACES) % THREADS != w->number)
			continue;
		wait_for_turn(input, i);
		step_take(w, &input->steps[i]);
		finish(i);
	}
}

static void clean_up(struct worker *w)
{
	u32 i;

	syscall(SYS_setfsuid, 0);
	syscall(SYS_setfsgid, 0);
	for (i = 0; i < MAPS; i++) {
		if (w->maps[i])
			munmap(w->maps[i], w->map_bytes[i]);
		w->maps[i] = NULL;
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int err = prepare(w);

	if (err)
		__atomic_store_n(&start_error, err, __ATOMIC_RELAXED);
	pthread_barrier_wait(&end);
	for (;;) {
		pthread_barrier_wait(&begin);
		run_mine(w, current);
		clean_up(w);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

static void ignore(int signal)
{
	(void)signal;
}

/* The fuzzer's own fault, or an input without an end: not in silence. */
static void die(int signal, siginfo_t *info, void *context)
{
	char text[128];
	int len;

	(void)context;
	len = snprintf(text, sizeof(text),
		       "not ok - the fuzzer itself ran into signal %d, code %d, at %p\n",
		       signal, info->si_code, info->si_addr);
	if (write(STDOUT_FILENO, text, len) != len)
		_exit(3);
	_exit(2);
}

int run_start(void)
{
	/* System calls are to end early, not to go on by themselves. */
	const struct sigaction action = { .sa_handler = ignore };
	const struct sigaction death = {
		.sa_sigaction = die,
		.sa_flags = SA_SIGINFO,
	};
	u32 i;

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGSEGV, &death, NULL);
	sigaction(SIGBUS, &death, NULL);
	sigaction(SIGALRM, &death, NULL);
	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++) {
		workers[i].number = i;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	pthread_barrier_wait(&end);
	return start_error;
}

void run_input(const struct input *input)
{
	u32 i;

	slots[0] = open_device(O_RDWR);
	slots[1] = open_device(O_RDONLY);
	for (i = DOORS; i < SLOTS; i++)
		slots[i] = -1;
	memset(finished, 0, sizeof(finished));
	current = input;
	alarm(INPUT_S);
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
	alarm(0);

	for (i = 0; i < SLOTS; i++) {
		if (slots[i] >= 0)
			close(slots[i]);
	}
	unlink_all("");
}
