// SPDX-License-Identifier: Apache-2.0
/** Is busy in one function for that much time of a CPU, and says how much it was: Burn SECONDS. */
public final class Burn {
	private static volatile long sink;

	private Burn() {
	}

	private static long cpuTime() {
		return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	private static double burn(double seconds) {
		long begin = cpuTime();
		long end = begin + (long)(seconds * 1e9);
		while (cpuTime() < end) {
			for (int i = 0; i < 10000; i++)
				sink += i;
		}
		return (cpuTime() - begin) / 1e9;
	}

	public static void main(String[] arguments) {
		cpuTime();
		System.out.println(burn(Double.parseDouble(arguments[0])));
	}
}
