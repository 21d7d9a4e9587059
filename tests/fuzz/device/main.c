// SPDX-License-Identifier: GPL-2.0
/*
 * A coverage-guided fuzzer of /dev/bloom.  In the debug guest, as root:
 *
 *	device [--seconds N] [--seed N] [--save DIR] [--last FILE] [FILE|DIR...]
 *	device --run [--seconds N] FILE		run one input again and again
 *	device --merge DIR FILE|DIR...		keep in DIR only what is needed
 *
 * Inputs (see input.h) that reach new code are kept and mutated, with what FILE
 * and DIR hold to begin with.  What is about to be run goes to --last first: when
 * the kernel dies of it, it is the last one there.  Prints TAP.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "run.h"
#include "step.h"

#define CORPUS_MAX	20000
#define TEXT_MAX	(STEPS_MAX * 80)
#define REPORT_S	10

static struct input *corpus;
static u32 corpus_count;
static u64 executions;
static int last = -1;
static const char *save;
static int tests, failures;

static void ok(bool well, const char *what)
{
	printf("%sok %d - %s\n", well ? "" : "not ", ++tests, what);
	failures += !well;
	fflush(stdout);
}

static void keep(const struct input *input)
{
	char path[4096], text[TEXT_MAX];
	size_t bytes;
	FILE *file;

	if (corpus_count < CORPUS_MAX)
		corpus[corpus_count++] = *input;
	if (!save)
		return;
	bytes = input_print(input, executions, text, sizeof(text));
	snprintf(path, sizeof(path), "%s/%06llu", save, executions);
	file = fopen(path, "w");
	if (!file || fwrite(text, bytes, 1, file) != 1 || fclose(file)) {
		perror(path);
		exit(2);
	}
}

static void run(const struct input *input)
{
	char text[TEXT_MAX];
	size_t bytes;

	executions++;
	if (last >= 0) {
		bytes = input_print(input, executions, text, sizeof(text));
		if (write(last, text, bytes) != (ssize_t)bytes) {
			perror("--last");
			exit(2);
		}
	}
	run_input(input);
}

/* Return: whether it reached something new. */
static bool try(const struct input *input)
{
	u64 before = covered_edges();

	run(input);
	if (covered_edges() == before)
		return false;
	keep(input);
	return true;
}

static void read_file(const char *path, struct input *inputs, u32 *count)
{
	FILE *file = fopen(path, "r");

	if (!file || *count == CORPUS_MAX || !input_read(&inputs[(*count)++], file)) {
		fprintf(stderr, "%s: not an input\n", path);
		exit(2);
	}
	fclose(file);
}

static void read_path(const char *path, struct input *inputs, u32 *count)
{
	struct dirent **names;
	char inside[4096];
	struct stat st;
	int i, n;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		read_file(path, inputs, count);
		return;
	}
	n = scandir(path, &names, NULL, alphasort);
	for (i = 0; i < n; i++) {
		snprintf(inside, sizeof(inside), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			read_file(inside, inputs, count);
	}
}

static void report(double began)
{
	double took = seconds() - began;

	printf("# %.0f s: %llu executions, %.0f a second; %llu blocks, %llu edges; %u inputs\n",
	       took, executions, executions / took, covered_blocks(),
	       covered_edges(), corpus_count);
	fflush(stdout);
}

static void fuzz_until(double end, double began, u64 *random)
{
	double next_report = seconds() + REPORT_S;
	struct input input;

	while (seconds() < end) {
		if (!corpus_count || next_random(random) % 8 == 0) {
			input_generate(&input, random);
		} else {
			input = corpus[next_random(random) % corpus_count];
			input_mutate(&input, &corpus[next_random(random) % corpus_count],
				     random);
		}
		try(&input);
		if (seconds() > next_report) {
			next_report += REPORT_S;
			report(began);
		}
	}
}

/* A fuzzer whose every CREATE fails would find nothing, and splendidly. */
static bool all_were_had(void)
{
	bool all = true;
	u32 op;

	for (op = 0; op < OPS; op++) {
		printf("# %-8s %llu well, %llu refused\n", op_names[op], went_well[op],
		       refused[op]);
		if (op < OP_IOCTL)
			all &= went_well[op] && refused[op];
	}
	return all;
}

static int fuzz(double for_seconds, u64 random, struct input *given, u32 count)
{
	double began = seconds();
	u64 edges, blocks;
	u32 i;

	printf("# seed %llu\n", random);
	/* A tenth of the time with nothing given: does new code get noticed? */
	fuzz_until(began + for_seconds / 10, began, &random);
	ok(covered_blocks() > 100, "KCOV sees the module's code");
	ok(corpus_count > 10, "generated inputs reach ever more of it");
	report(began);

	blocks = covered_blocks();
	for (i = 0; i < count; i++)
		try(&given[i]);
	printf("# %u inputs given: %llu blocks more\n", count, covered_blocks() - blocks);
	edges = covered_edges();
	fuzz_until(began + for_seconds, began, &random);
	report(began);
	printf("# by mutation: %llu edges more\n", covered_edges() - edges);
	ok(all_were_had(), "each request went well and was refused");
	ok(!wrong_answers, "every answer is one that the header knows");
	printf("1..%d\n", tests);
	return failures ? 1 : 0;
}

static int by_length(const void *a, const void *b)
{
	return (int)((const struct input *)a)->count -
	       (int)((const struct input *)b)->count;
}

/* The shortest first: what they reach the longer ones need not. */
static int merge(struct input *given, u32 count)
{
	u64 blocks;
	u32 i;

	qsort(given, count, sizeof(*given), by_length);
	for (i = 0; i < count; i++) {
		blocks = covered_blocks();
		run(&given[i]);
		if (covered_blocks() != blocks)
			keep(&given[i]);
	}
	printf("# %u inputs of %u; %llu blocks\n", corpus_count, count,
	       covered_blocks());
	return 0;
}

static int again(const struct input *input, double for_seconds)
{
	double end = seconds() + for_seconds;

	while (seconds() < end)
		run(input);
	printf("# run %llu times; %llu blocks, %llu edges\n", executions,
	       covered_blocks(), covered_edges());
	return wrong_answers ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ "save", required_argument, NULL, 'o' },
		{ "last", required_argument, NULL, 'l' },
		{ "run", no_argument, NULL, '1' },
		{ "merge", required_argument, NULL, 'm' },
		{}
	};
	bool merging = false, one = false;
	double for_seconds = 60;
	u64 seed = time(NULL);
	struct input *given;
	u32 count = 0;
	int key, err;

	while ((key = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (key) {
		case 's':
			for_seconds = atof(optarg);
			break;
		case 'r':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 'm':
			merging = true;
			save = optarg;
			break;
		case 'o':
			save = optarg;
			break;
		case 'l':
			last = open(optarg, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
			if (last < 0) {
				perror(optarg);
				return 2;
			}
			break;
		case '1':
			one = true;
			break;
		default:
			return 2;
		}
	}
	corpus = calloc(CORPUS_MAX, sizeof(*corpus));
	given = calloc(CORPUS_MAX, sizeof(*given));
	if (!corpus || !given)
		return 2;
	for (; optind < argc; optind++)
		read_path(argv[optind], given, &count);

	err = run_start();
	if (err) {
		fprintf(stderr, "KCOV: %s\n", strerror(-err));
		ok(false, "KCOV sees the module's code");
		return 1;
	}
	if (one)
		return again(&given[0], for_seconds);
	return merging ? merge(given, count) : fuzz(for_seconds, seed, given, count);
}
