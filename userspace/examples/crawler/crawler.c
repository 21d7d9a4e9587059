// SPDX-License-Identifier: GPL-2.0
/*
 * crawler: many processes crawl together and fetch no URL twice.
 *
 * The workers never speak to each other. All they share is one filter without a
 * name, inherited over fork(): of all workers that find a link, the kernel tells
 * exactly one that it is new, and that one fetches it. When the last of them
 * exits the filter is gone.
 *
 * The web is a file (see make-web); fetch() is where a real crawler has curl.
 */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../example.h"

#define WORKERS_MAX	64
#define DELAY_MAX	10000000

struct span {
	const char *at;
	size_t len;
};

/* A worker's statistics, in memory that it shares with its parent. */
struct stats {
	uint64_t fetched;
	uint64_t links;
	uint64_t seen;
	uint64_t blank;
};

struct worker {
	struct bloomdev_filter *filter;
	struct span web;
	unsigned int delay;
	struct stats *stats;

	struct span *todo;		/* a stack */
	size_t todo_count, todo_room;

	struct span *links;		/* of one page, none of them blank */
	uint32_t *lens;
	uint8_t *verdicts;
	size_t links_room;
	char *keys;
	size_t keys_room;
};

static void usage(FILE *out)
{
	fputs("usage: crawler [option...] WEB URL...\n\n"
	      "Fetch the URLs and all that can be reached from them, each once. WEB is a\n"
	      "file, sorted bytewise, with a line for each page: its URL and its links,\n"
	      "with tabs between them; make-web makes one. Prints the URLs as they are\n"
	      "fetched. Each worker begins with URLs of its own: give as many as workers or more.\n\n"
	      "  -w, --workers N      processes, 1 to 64 (4)\n"
	      "  -s, --scaling        a filter that begins with 1000 URLs, grows, and takes\n"
	      "                       0.1 % of new URLs for seen at most; else one of 2^24\n"
	      "                       bits and 6 probes, good for a million URLs or so\n"
	      "  -d, --delay USEC     what it takes to fetch a page (0), at most 10 s\n"
	      "  -h, --help           print this\n", out);
}

static struct bloomdev_filter *make_filter(bool scaling)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_filter *filter;

	if (scaling) {
		opts.growth = BLOOMDEV_GROWTH_SCALING;
		opts.capacity = 1000;
		opts.fp_rate = 0.001;
	} else {
		opts.kind = BLOOMDEV_KIND_CLASSIC;
		opts.slots = 1 << 24;
		opts.probes = 6;
	}
	filter = bloomdev_filter_create(NULL, &opts);
	if (!filter)
		die_library();
	return filter;
}

static struct span open_web(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct span web;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		err(STATUS_ERROR, "%s", path);
	if (!st.st_size)
		die("%s: is empty", path);
	web.len = st.st_size;
	web.at = mmap(NULL, web.len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (web.at == MAP_FAILED)
		err(STATUS_ERROR, "%s", path);
	close(fd);
	if (web.at[web.len - 1] != '\n')
		die("%s: the last line has no end", path);
	return web;
}

/* The first field of what begins at @at, up to a tab or the end of the line. */
static struct span field(const char *at)
{
	return (struct span) { at, strcspn(at, "\t\n") };
}

static int compare(struct span a, struct span b)
{
	int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);

	return order ?: (a.len > b.len) - (a.len < b.len);
}

/* The page's line, from its URL on; or NULL. Bisects the sorted file. */
static const char *find_page(struct span web, struct span url)
{
	const char *low = web.at, *high = web.at + web.len, *line;
	int order;

	while (low < high) {
		line = low + (high - low) / 2;
		while (line > low && line[-1] != '\n')
			line--;
		order = compare(url, field(line));
		if (!order)
			return line;
		if (order < 0)
			high = line;
		else
			low = (char *)memchr(line, '\n', high - line) + 1;
	}
	return NULL;
}

/* Fetch and log; the answer is the links: "\tlink\tlink\n". */
static const char *fetch(struct worker *w, struct span url)
{
	const char *page = find_page(w->web, url);
	char line[4096];
	int len;

	if (w->delay)
		usleep(w->delay);
	/* One write a line, so that lines of several workers do not mix. */
	len = snprintf(line, sizeof(line), "%.*s\n", (int)url.len, url.at);
	if (len >= (int)sizeof(line))
		die("a URL of %zu bytes: at most %zu", url.len, sizeof(line) - 2);
	if (write(STDOUT_FILENO, line, len) != len)
		err(STATUS_ERROR, "cannot log");
	w->stats->fetched++;
	return page ? page + url.len : "\n";
}

static bool is_blank(struct span url)
{
	return strspn(url.at, " \r\f\v") >= url.len;
}

static void push(struct worker *w, struct span url)
{
	if (w->todo_count == w->todo_room) {
		w->todo_room = 2 * w->todo_room + 64;
		w->todo = need(realloc(w->todo, w->todo_room * sizeof(*w->todo)));
	}
	w->todo[w->todo_count++] = url;
}

/* Keep those that no worker has seen: one batch, one system call. */
static void keep_new(struct worker *w, size_t count, size_t bytes)
{
	struct bloomdev_keys keys = {
		.data = w->keys,
		.bytes = bytes,
		.lens = w->lens,
		.count = count,
	};
	struct bloomdev_result result;
	size_t i;

	if (bloomdev_filter_add(w->filter, &keys, w->verdicts, &result))
		die_library();
	w->stats->seen += result.present;
	for (i = 0; i < count; i++) {
		if (w->verdicts[i] == BLOOMDEV_ABSENT)
			push(w, w->links[i]);
	}
}

static void make_room(struct worker *w, size_t links, size_t bytes)
{
	if (links > w->links_room) {
		w->links_room = 2 * links;
		w->links = need(realloc(w->links, w->links_room * sizeof(*w->links)));
		w->lens = need(realloc(w->lens, w->links_room * sizeof(*w->lens)));
		w->verdicts = need(realloc(w->verdicts, w->links_room));
	}
	if (bytes > w->keys_room) {
		w->keys_room = 2 * bytes;
		w->keys = need(realloc(w->keys, w->keys_room));
	}
}

static void follow_links(struct worker *w, const char *at)
{
	size_t count = 0, bytes = 0;

	while (*at == '\t') {
		struct span url = field(at + 1);

		at = url.at + url.len;
		w->stats->links++;
		/* A blank URL is never seen: it is not a key, whatever was added. */
		if (is_blank(url)) {
			w->stats->blank++;
			continue;
		}
		make_room(w, count + 1, bytes + url.len);
		memcpy(w->keys + bytes, url.at, url.len);
		bytes += url.len;
		w->lens[count] = url.len;
		w->links[count++] = url;
	}
	if (count)
		keep_new(w, count, bytes);
}

/* Those of the first URLs that are new; the answer is how many. */
static int begin(struct bloomdev_filter *filter, char **urls, int count)
{
	int i, verdict, n = 0;

	for (i = 0; i < count; i++) {
		struct span url = { urls[i], strlen(urls[i]) };

		if (is_blank(url))
			continue;
		verdict = bloomdev_filter_add_key(filter, url.at, url.len);
		if (verdict < 0)
			die_library();
		if (verdict == BLOOMDEV_ABSENT)
			urls[n++] = urls[i];
	}
	return n;
}

static void crawl(struct worker *w, char **urls, int count, int first, int step)
{
	int i;

	for (i = first; i < count; i += step)
		push(w, (struct span) { urls[i], strlen(urls[i]) });
	while (w->todo_count)
		follow_links(w, fetch(w, w->todo[--w->todo_count]));
}

static int report(struct bloomdev_filter *filter, struct stats *stats, int workers)
{
	struct bloomdev_info *info = bloomdev_filter_info(filter);
	struct stats sum = { 0 };
	int i;

	if (!info)
		die_library();
	for (i = 0; i < workers; i++) {
		fprintf(stderr, "worker %d fetched %" PRIu64 "\n", i, stats[i].fetched);
		sum.fetched += stats[i].fetched;
		sum.links += stats[i].links;
		sum.seen += stats[i].seen;
		sum.blank += stats[i].blank;
	}
	fprintf(stderr, "fetched %" PRIu64 "; links %" PRIu64 ", seen before %" PRIu64
		", blank %" PRIu64 "\n", sum.fetched, sum.links, sum.seen, sum.blank);
	fprintf(stderr, "filter: %s, %u layers, %" PRIu64 " bytes, %" PRIu64
		" URLs, about %.2g lost\n", bloomdev_growth_name(info->growth),
		info->layer_count, info->bytes, info->keys, bloomdev_info_lost(info));
	bloomdev_info_free(info);
	return 0;
}

static int wait_for_all(void)
{
	int status, bad = 0;

	while (wait(&status) > 0)
		bad |= status;
	return bad ? STATUS_ERROR : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "workers", required_argument, NULL, 'w' },
		{ "scaling", no_argument, NULL, 's' },
		{ "delay", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	struct worker w = { 0 };
	struct stats *stats;
	bool scaling = false;
	int option, i, count, workers = 4;

	while ((option = getopt_long(argc, argv, "w:sd:h", options, NULL)) != -1) {
		switch (option) {
		case 'w':
			workers = parse_number("--workers", optarg, 1, WORKERS_MAX);
			break;
		case 's':
			scaling = true;
			break;
		case 'd':
			w.delay = parse_number("--delay", optarg, 0, DELAY_MAX);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return STATUS_ERROR;
		}
	}
	if (argc - optind < 2)
		die("needs a file and a URL; see crawler --help");

	w.web = open_web(argv[optind++]);
	w.filter = make_filter(scaling);
	argv += optind;
	count = begin(w.filter, argv, argc - optind);
	stats = mmap(NULL, workers * sizeof(*stats), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stats == MAP_FAILED)
		err(STATUS_ERROR, "mmap");
	for (i = 0; i < workers; i++) {
		switch (fork()) {
		case -1:
			err(STATUS_ERROR, "fork");
		case 0:
			w.stats = &stats[i];
			crawl(&w, argv, count, i, workers);
			_exit(0);
		}
	}
	if (wait_for_all())
		return STATUS_ERROR;
	return report(w.filter, stats, workers);
}
