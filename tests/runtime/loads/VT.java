// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CountDownLatch;

/** A load of virtual threads whose stacks are known: VT DIRECTORY. They give up their carriers at several depths. */
public final class VT {
	private static final int ROUNDS = 20000;
	private static final int NR_THREADS = 4;
	private static final int DEPTH = 12;
	private static volatile long sink;

	private VT() {
	}

	static int work() {
		Truth.note();
		int total = 1;
		for (int i = 0; i < ROUNDS; i++)
			total = total * 1103515245 + i;
		return total;
	}

	static int descend(int depth) {
		int total = work();
		if (depth == 0) {
			Thread.yield();
			return total;
		}
		total += descend(depth - 1);
		return total + work();
	}

	static void serve(CountDownLatch noted) {
		for (int turn = 0;; turn++) {
			sink += descend(DEPTH);
			if (turn == 0)
				noted.countDown();
		}
	}

	public static void main(String[] arguments) throws Exception {
		CountDownLatch noted = new CountDownLatch(NR_THREADS);
		for (int i = 0; i < NR_THREADS; i++)
			Thread.ofVirtual().name("virtual-" + i).start(() -> serve(noted));
		Truth.tell(arguments[0], noted);
		Thread.currentThread().join();
	}
}
