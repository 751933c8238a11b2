// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;

/** How the stacks of a load look, told by the JVM itself; see truth.py. Hidden frames are left out. */
final class Truth {
	private static final Set<String> CHAINS = new TreeSet<>();
	private static volatile boolean isNoting = true;

	private Truth() {
	}

	private static String quote(String text) {
		return text == null ? "\"\"" : "\"" + text + "\"";
	}

	private static String describe(StackTraceElement frame) {
		return "{\"name\": " + quote(frame.getClassName() + "." + frame.getMethodName()) + ", \"file\": "
			+ quote(frame.getFileName()) + ", \"line\": " + Math.max(frame.getLineNumber(), 0)
			+ ", \"start_line\": 0, \"last_line\": 0}";
	}

	/** Notes the caller's stack, outermost frame first. */
	static void note() {
		if (!isNoting)
			return;
		StackTraceElement[] frames = new Throwable().getStackTrace();
		StringBuilder chain = new StringBuilder();
		for (int i = frames.length - 1; i > 0; i--)
			chain.append(describe(frames[i])).append(i > 1 ? ",\n" : "");
		synchronized (CHAINS) {
			CHAINS.add("[" + chain + "]");
		}
	}

	private static String processId() throws IOException {
		return Paths.get("/proc/self").toRealPath().getFileName().toString();
	}

	/** Waits until all threads have noted; then ends the notes of this process, and writes them. */
	static void tell(String directory, CountDownLatch threads) throws IOException, InterruptedException {
		threads.await();
		isNoting = false;
		String text;
		synchronized (CHAINS) {
			text = "{\"version\": " + quote(System.getProperty("java.version")) + ", \"chains\": ["
				+ String.join(",\n", CHAINS) + "]}\n";
		}
		Path path = Paths.get(directory, processId() + ".json");
		Path part = Paths.get(path + ".new");
		Files.write(part, text.getBytes(StandardCharsets.UTF_8));
		Files.move(part, path, StandardCopyOption.ATOMIC_MOVE);
	}
}
