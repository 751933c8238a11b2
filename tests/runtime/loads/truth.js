// SPDX-License-Identifier: Apache-2.0
/* Writes the stacks of a load as V8 itself sees them; see truth.py. */
"use strict";
const fs = require("fs");
const path = require("path");

/* Deno's process.version is that of the Node that it is like. */
const version = globalThis.Deno ? globalThis.Deno.version.deno : process.version;
const chains = new Map();
let isNoting = true;

Error.stackTraceLimit = 10000;

/* Frames of built-in functions have no file, and are native code to a profiler. */
function describe(site) {
	return {name: site.getFunctionName() || "", file: site.getFileName() || site.getScriptNameOrSourceURL() || "",
		line: site.getLineNumber(), start_line: 0, last_line: 0};
}

function isOnStack(site) {
	return site.getLineNumber() && !(site.isAsync && site.isAsync()) && !site.isNative();
}

function structured(error, sites) {
	return sites.filter(isOnStack).map(describe).reverse();
}

/* Notes the caller's stack, outermost frame first. */
function note() {
	if (!isNoting)
		return;
	const holder = {};
	const before = Error.prepareStackTrace;
	Error.prepareStackTrace = structured;
	Error.captureStackTrace(holder, note);
	const chain = holder.stack;
	Error.prepareStackTrace = before;
	chains.set(JSON.stringify(chain), chain);
}

function take() {
	isNoting = false;
	return [...chains.values()];
}

/* Ends the notes of this process, and writes them with those of its other threads. */
function tell(directory, others) {
	const file = path.join(directory, `${process.pid}.json`);
	fs.writeFileSync(file + ".new", JSON.stringify({version, chains: take().concat(others || [])}));
	fs.renameSync(file + ".new", file);
}

module.exports = {note, take, tell};
