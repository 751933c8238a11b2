// SPDX-License-Identifier: Apache-2.0
// Hot code for V8's optimizing compiler, and calls into the runtime: regular expressions, JSON, sorting.
function hotLeaf(x) {
	for (let i = 0; i < 20000; i++)
		x = (Math.imul(x, 1103515245) + 12345) & 0x7fffffff;
	return x;
}

function hotOuter(x) {
	for (let i = 0; i < 20; i++)
		x ^= hotLeaf(x + i);
	return x;
}

let seed = 1;
for (;;) {
	seed = hotOuter(seed);
	const record = {seed, text: "k" + seed, list: [seed, 2, 3].sort()};
	JSON.parse(JSON.stringify(record)).text.replace(/([0-9])([0-9])/g, "$2$1");
}
