/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON, a line at a time.
 */
#ifndef BLOOMCTL_JSON_H
#define BLOOMCTL_JSON_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;

void json_count(struct json_object *o, const char *name, uint64_t value);
/* null for what is no number. */
void json_real(struct json_object *o, const char *name, double value);
void json_text(struct json_object *o, const char *name, const char *value);
void json_flag(struct json_object *o, const char *name, bool value);
/* On a line of its own; frees it. */
void json_print(struct json_object *o);

#endif /* BLOOMCTL_JSON_H */
