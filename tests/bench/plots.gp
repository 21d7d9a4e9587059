# SPDX-License-Identifier: GPL-2.0
# gnuplot -e "dir='build/bench'" plots.gp: the tables of ./run as SVG.
set terminal svg size 720,420 font "sans,12" background "white"
set datafile separator ","
set key left top
set grid ytics
set ylabel "ns a key"
set yrange [0:*]

set logscale x 2
set output dir."/curve-size.svg"
set title "Blocked, 16-byte keys, 7 probes, inside the kernel"
set xlabel "array, MiB"
plot for [i=2:5] dir."/curve-size.csv" using 1:i with linespoints title columnheader(i)

set output dir."/curve-length.svg"
set title "Blocked, 64 MiB"
set xlabel "key, bytes"
plot for [i=2:5] dir."/curve-length.csv" using 1:i with linespoints title columnheader(i)

set output dir."/curve-batch.svg"
set title "A request of so many 16-byte keys, 64 MiB, without the system call"
set xlabel "keys in a request"
plot for [i=2:4] dir."/curve-batch.csv" using 1:i with linespoints title columnheader(i)

set output dir."/curve-lifecycle.svg"
set title "Making, emptying, dropping a filter"
set xlabel "array, MiB"
set ylabel "ms"
set logscale y
set yrange [*:*]
plot for [i=2:4] dir."/curve-lifecycle.csv" using 1:i with linespoints title columnheader(i)
unset logscale
set ylabel "ns a key"
set yrange [0:*]

set style data histogram
set style fill solid 0.6
set output dir."/curve-kind.svg"
set title "64 MiB, 16-byte keys, inside the kernel"
set xlabel ""
plot for [i=2:5] dir."/curve-kind.csv" using i:xtic(1) title columnheader(i)

set output dir."/curve-memory.svg"
set title "Memory for ten million keys"
set xlabel "false-positive rate"
set ylabel "bits a key"
plot for [i=2:4] dir."/curve-memory.csv" using i:xtic(1) title columnheader(i)
