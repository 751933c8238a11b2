// SPDX-License-Identifier: Apache-2.0
/* Gives mini-racer what a load needs of Node (racer.py). `given` is the sources of the modules by their paths, the
 * program and its arguments; the value is the memory into which the load's file goes: its length, then its bytes. */
"use strict";
(given => {
	const MAX_BYTES = 1 << 24;
	const memory = new SharedArrayBuffer(MAX_BYTES);

	/* UTF-8, as there is no TextEncoder. */
	function encode(text) {
		const escaped = encodeURIComponent(text);
		const bytes = [];
		for (let i = 0; i < escaped.length; i++) {
			if (escaped[i] !== "%") {
				bytes.push(escaped.charCodeAt(i));
				continue;
			}
			bytes.push(parseInt(escaped.slice(i + 1, i + 3), 16));
			i += 2;
		}
		return bytes;
	}

	const fs = {
		writeFileSync(path, text) {
			const bytes = encode(text);
			new Uint8Array(memory).set(bytes, 4);
			Atomics.store(new Uint32Array(memory, 0, 1), 0, bytes.length);
		},
		renameSync() {},
	};
	const modules = new Map([["fs", fs], ["path", {join: (...parts) => parts.join("/")}],
		["worker_threads", {isMainThread: true}]]);

	globalThis.process = {argv: ["", given.program, ...given.arguments], pid: given.pid, version: given.version};
	globalThis.setImmediate = call => Promise.resolve().then(call);
	globalThis.run = path => {
		const module = {exports: {}};
		const source = given.sources[path];
		(0, eval)(`(function (require, module, __filename) {${source}\n})\n//# sourceURL=${path}`)(require, module, path);
		modules.set(path, module.exports);
		return module.exports;
	};
	function require(name) {
		const path = name.startsWith("./") ? given.program.replace(/[^/]*$/, name.slice(2)) : name;
		return modules.get(path) || globalThis.run(path);
	}
	return memory;
})
