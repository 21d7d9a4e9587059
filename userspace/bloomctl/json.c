// SPDX-License-Identifier: GPL-2.0
#include <json-c/json.h>
#include <math.h>
#include "bloomctl.h"
#include "json.h"

void json_count(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

void json_real(struct json_object *o, const char *name, double value)
{
	json_object_object_add(o, name, isfinite(value) ?
			       json_object_new_double(value) : NULL);
}

void json_text(struct json_object *o, const char *name, const char *value)
{
	json_object_object_add(o, name, json_object_new_string(value));
}

void json_flag(struct json_object *o, const char *name, bool value)
{
	json_object_object_add(o, name, json_object_new_boolean(value));
}

void json_print(struct json_object *o)
{
	out_text("%s\n",
		 json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
						JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}
