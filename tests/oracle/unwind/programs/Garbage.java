// SPDX-License-Identifier: Apache-2.0
// Work for the garbage collector and the compilers of the virtual machine, which are C++.
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Garbage {
	static Object[] tree(int depth) {
		return depth == 0 ? new Object[0] : new Object[] { tree(depth - 1), tree(depth - 1) };
	}

	public static void main(String[] arguments) {
		Map<Integer, List<Object[]>> kept = new HashMap<>();

		for (int x = 0;; x++) {
			List<Object[]> list = kept.computeIfAbsent(x % 8, key -> new ArrayList<>());
			if (list.size() > 20)
				list.clear();
			list.add(tree(10));
		}
	}
}
