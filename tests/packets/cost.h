/* SPDX-License-Identifier: GPL-2.0 */
/* What cost and its BPF programs share. */
#ifndef COST_H
#define COST_H

#define CAPACITY	200000U
#define WINDOW_NS	60000000000ULL

#endif /* COST_H */
