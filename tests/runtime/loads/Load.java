// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** A load whose stacks are known: Load DIRECTORY [DEPTH]. With a negative depth, it makes garbage. */
public final class Load {
	private static final int ROUNDS = 20000;
	private static final int NR_THREADS = 2;
	/** Of three classes, so that the compiler does not inline their calls. */
	private static final IntUnaryOperator[] WORKS = {Load::work, Load::work, Load::work};
	private static volatile long sink;
	private static int nextWork;

	private Load() {
	}

	static int work(int rounds) {
		Truth.note();
		int total = rounds;
		for (int i = 0; i < rounds; i++)
			total = total * 1103515245 + i;
		return total;
	}

	static int work() {
		return work(ROUNDS);
	}

	/**
	 * The compiler inlines one level of the recursion. It must not inline the work twice as well: of a place in a loop that
	 * has no safepoint, the JVM's tables do not say to which of two copies it belongs.
	 */
	static int recurse(int depth) {
		if (depth == 0)
			return WORKS[(nextWork++ & Integer.MAX_VALUE) % WORKS.length].applyAsInt(ROUNDS);
		return recurse(depth - 1) + 1;
	}

	interface Shape extends Comparable<Shape> {
		int area();

		default int twice() {
			return area() + area();
		}
	}

	static class Circle implements Shape {
		@Override
		public int area() {
			return work() + 1;
		}

		@Override
		public int compareTo(Shape other) {
			return (work() & 0) + Integer.compare(hashCode(), other.hashCode());
		}
	}

	static class Square extends Circle {
		@Override
		public int area() {
			return work() + 2;
		}
	}

	static class Ring extends Circle {
		@Override
		public int area() {
			return super.area() +
				work();
		}
	}

	static class Dot extends Circle {
		final int kept;

		Dot() {
			kept = work();
		}

		@Override
		public synchronized int area() {
			return kept;
		}
	}

	/** One call, four receivers. */
	static int megamorphic(int turn) {
		Shape[] shapes = {new Circle(), new Square(), new Ring(), new Dot()};
		int total = 0;
		for (int i = 0; i < shapes.length; i++)
			total += shapes[(i + turn) % shapes.length].twice();
		return total;
	}

	static int apply(IntUnaryOperator function, int value) {
		return function.applyAsInt(value);
	}

	static int lambdas(int turn) {
		IntUnaryOperator reference = Load::work;
		int total = apply(value -> work() + value + turn, 1);
		total += apply(reference, ROUNDS);
		total += apply(new IntUnaryOperator() {
			@Override
			public int applyAsInt(int value) {
				return work() + value;
			}
		}, 2);
		return total;
	}

	static int callbacks() {
		List<Integer> numbers = new ArrayList<>(Arrays.asList(3, 1, 2));
		numbers.sort(new Comparator<Integer>() {
			@Override
			public int compare(Integer a, Integer b) {
				return (work() & 0) + a - b;
			}
		});
		Shape[] shapes = {new Circle(), new Circle()};
		Arrays.sort(shapes);
		return numbers.get(0);
	}

	static int streams() {
		return IntStream.range(0, 2).map(value -> value + work()).sum();
	}

	static int fail(int depth) {
		if (depth == 0) {
			work();
			throw new IllegalStateException("as it must");
		}
		return fail(depth - 1);
	}

	static int exceptions() {
		int total = 0;
		try {
			total = fail(3);
		} catch (IllegalStateException error) {
			total += work();
		} finally {
			total += work();
		}
		return total;
	}

	static synchronized int locked(Object lock) {
		synchronized (lock) {
			return work();
		}
	}

	static int calls(int turn) {
		int total = megamorphic(turn);
		total += lambdas(turn);
		total += callbacks();
		total += streams();
		total += exceptions();
		total += locked(Load.class);
		return total + recurse(10);
	}

	/** Keeps some of what it makes, so that the collector has to copy it. */
	static int churn() {
		Object[] kept = new Object[4096];
		for (int i = 0; i < 1000000; i++)
			kept[i % kept.length] = new int[i % 64];
		return kept.length;
	}

	static int turn(int depth, int turn) {
		if (depth < 0)
			return churn();
		return depth > 0 ? recurse(depth) : calls(turn);
	}

	static void serve(int depth, CountDownLatch noted) {
		for (int turn = 0;; turn++) {
			sink += turn(depth, turn);
			if (turn == 0)
				noted.countDown();
		}
	}

	public static void main(String[] arguments) throws Exception {
		int depth = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0;
		CountDownLatch noted = new CountDownLatch(NR_THREADS);
		for (int i = 0; i < NR_THREADS; i++)
			new Thread(() -> serve(depth, noted), "load-" + i).start();
		Truth.tell(arguments[0], noted);
	}
}
