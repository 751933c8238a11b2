// SPDX-License-Identifier: Apache-2.0
/* Runs a load in JavaScript in the Node that Javet puts into a JVM:
 *
 *	java -cp JAVET Script.java LOAD ARGUMENT...
 *	java -cp JAVET Script.java --version */
import com.caoccao.javet.interop.NodeRuntime;
import com.caoccao.javet.interop.V8Host;
import com.caoccao.javet.interop.options.NodeRuntimeOptions;
import java.io.File;

public class Script {
	public static void main(String[] arguments) throws Exception {
		NodeRuntimeOptions options = new NodeRuntimeOptions().setConsoleArguments(arguments);
		NodeRuntime runtime = V8Host.getNodeInstance().createV8Runtime(options);

		if (arguments[0].equals("--version")) {
			System.out.println(runtime.getExecutor("process.version").executeString());
			System.exit(0);
		}
		runtime.allowEval(true);
		runtime.getExecutor(new File(arguments[0])).executeVoid();
		runtime.await();
	}
}
