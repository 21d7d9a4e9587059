// SPDX-License-Identifier: GPL-2.0
/*
 * Doing something as somebody else.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "users.h"

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = {};

	return syscall(SYS_capset, &header, none);
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* Be root of a user namespace in which only the caller is known. */
static int enter_namespace(uid_t uid)
{
	char map[32];

	snprintf(map, sizeof(map), "0 %u 1\n", uid);
	if (unshare(CLONE_NEWUSER))
		return -1;
	if (write_file("/proc/self/setgroups", "deny") ||
	    write_file("/proc/self/uid_map", map) ||
	    write_file("/proc/self/gid_map", map))
		return -1;
	return 0;
}

static int become(const struct user *user)
{
	size_t groups = user->group == GROUP_NONE ? 0 : 1;

	if (setgroups(groups, &user->group))
		return -1;
	if (setresgid(user->uid, user->uid, user->uid))
		return -1;
	if (setresuid(user->uid, user->uid, user->uid))
		return -1;
	/* Changing the user made /proc/self root's; the maps need it back. */
	if (prctl(PR_SET_DUMPABLE, 1))
		return -1;
	if (user->own_namespace && enter_namespace(user->uid))
		return -1;
	if (user->drop_capabilities && drop_capabilities())
		return -1;
	return 0;
}

long as_user(const struct user *user, long (*fn)(void *arg), void *arg)
{
	long answer = -ECHILD;
	int pipes[2], status;
	pid_t pid;

	if (pipe(pipes))
		return -ECHILD;
	pid = fork();
	if (!pid) {
		answer = become(user) ? -ECHILD : fn(arg);
		if (write(pipes[1], &answer, sizeof(answer)) != sizeof(answer))
			_exit(1);
		_exit(0);
	}
	close(pipes[1]);
	if (pid > 0) {
		if (read(pipes[0], &answer, sizeof(answer)) != sizeof(answer))
			answer = -ECHILD;
		waitpid(pid, &status, 0);
	}
	close(pipes[0]);
	return answer;
}

int send_fd(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(fd))] = {};
	struct iovec data = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(socket, &msg, 0) == 1 ? 0 : -errno;
}

int receive_fd(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec data = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg;
	int fd;

	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) != 1)
		return -errno;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return -EPROTO;
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}
