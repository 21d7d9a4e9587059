// SPDX-License-Identifier: GPL-2.0
// Uuids FILE SET COUNT: add the lines of FILE to Java's sets, then ask for all of them;
// prints "java,<set>,<ns a key added>,<ns a key asked>,<bytes>".
import java.nio.file.*;
import java.util.*;
import java.util.function.Supplier;

public class Uuids {
	static long used() {
		Runtime r = Runtime.getRuntime();
		for (int i = 0; i < 3; i++)
			System.gc();
		return r.totalMemory() - r.freeMemory();
	}

	interface Container {
		boolean add(String s);
		boolean contains(String s);
	}

	static class OfSet implements Container {
		final Set<String> set;
		OfSet(Set<String> set) { this.set = set; }
		public boolean add(String s) { return set.add(s); }
		public boolean contains(String s) { return set.contains(s); }
	}

	/* Made as one makes it by hand: two hashes, k probes, a BitSet; p = 0.01. */
	static class OfBits implements Container {
		final int bits, k = 7;
		final BitSet set;
		OfBits(int n) { bits = (int)(n * 9.586); set = new BitSet(bits); }
		int at(int h1, int h2, int i) {
			return (int)(((h1 + (long)i * h2) & 0x7fffffff) % bits);
		}
		int second(String s) {
			int h = 0x811c9dc5;
			for (int i = 0; i < s.length(); i++)
				h = (h ^ s.charAt(i)) * 0x01000193;
			return h | 1;
		}
		public boolean add(String s) {
			int h1 = s.hashCode(), h2 = second(s);
			boolean fresh = false;
			for (int i = 0; i < k; i++) {
				int b = at(h1, h2, i);
				fresh |= !set.get(b);
				set.set(b);
			}
			return fresh;
		}
		public boolean contains(String s) {
			int h1 = s.hashCode(), h2 = second(s);
			for (int i = 0; i < k; i++)
				if (!set.get(at(h1, h2, i)))
					return false;
			return true;
		}
	}

	static void run(String name, Supplier<Container> make, String file) throws Exception {
		long before = used();
		List<String> keys = Files.readAllLines(Path.of(file));
		int n = keys.size();
		Container c = make.get();
		long start = System.nanoTime();
		int fresh = 0, present = 0;
		for (String s : keys)
			fresh += c.add(s) ? 1 : 0;
		long added = System.nanoTime() - start;
		/* What it keeps: a set its strings too, a filter none. */
		keys = null;
		long bytes = used() - before;
		/* Asked for with strings of their own, as a program would: no hash is kept in them. */
		List<String> again = Files.readAllLines(Path.of(file));
		start = System.nanoTime();
		for (String s : again)
			present += c.contains(s) ? 1 : 0;
		long asked = System.nanoTime() - start;
		if (present != n || fresh < n * 0.95)
			System.out.println("bench-wrong," + name + ",0,present " + present + " fresh " + fresh);
		System.out.printf("java,%s,%.3f,%.3f,%d%n", name, (double)added / n, (double)asked / n, bytes);
	}

	public static void main(String[] args) throws Exception {
		switch (args[1]) {
		case "HashSet" -> run("HashSet", () -> new OfSet(new HashSet<>()), args[0]);
		case "TreeSet" -> run("TreeSet", () -> new OfSet(new TreeSet<>()), args[0]);
		default -> run("BitSet", () -> new OfBits(Integer.parseInt(args[2])), args[0]);
		}
	}
}
