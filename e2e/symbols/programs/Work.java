// SPDX-License-Identifier: Apache-2.0
// Hot code for the just-in-time compiler, and work for the collector of garbage.
import java.util.ArrayList;
import java.util.List;

public class Work {
	static volatile long sink;

	static long hotLeaf(long x) {
		for (int i = 0; i < 20000; i++)
			x = (x ^ x >>> 7) * 0x9e3779b97f4a7c15L;
		return x;
	}

	static long hotOuter(long x) {
		for (int i = 0; i < 20; i++)
			x ^= hotLeaf(x + i);
		return x;
	}

	public static void main(String[] args) {
		for (;;) {
			List<String> list = new ArrayList<>();
			for (int i = 0; i < 1000; i++)
				list.add("k" + (sink + i));
			sink = hotOuter(sink) + list.hashCode();
		}
	}
}
