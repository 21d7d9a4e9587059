/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Doing something as somebody else.
 */
#ifndef BLOOM_TESTS_USERS_H
#define BLOOM_TESTS_USERS_H

#include <stddef.h>
#include <sys/types.h>

#define USER_OWNER	1000	/* who makes the filters */
#define USER_OTHER	1001	/* somebody else */
#define GROUP_SHARED	2000	/* a group for both */
#define GROUP_NONE	((gid_t)-1)

/**
 * struct user - who a child process becomes
 * @uid: user; the group of the same number goes with it
 * @group: one supplementary group, or GROUP_NONE
 * @own_namespace: in a new user namespace, with every capability there
 * @drop_capabilities: stay user @uid without any capability
 */
struct user {
	uid_t uid;
	gid_t group;
	int own_namespace;
	int drop_capabilities;
};

/*
 * Call @fn(@arg) in a child process as @user. Return what it returned, or
 * -ECHILD if the child could not be made or died.
 */
long as_user(const struct user *user, long (*fn)(void *arg), void *arg);

/* Pass a descriptor over a UNIX socket. */
int send_fd(int socket, int fd);
int receive_fd(int socket);

#endif /* BLOOM_TESTS_USERS_H */
