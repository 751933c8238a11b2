// SPDX-License-Identifier: Apache-2.0
/* A load whose functions are small, so that V8's optimizing compilers put them into each other (truth.js).
 *
 *	fib.js DIRECTORY */
"use strict";
const truth = require("./truth.js");

let isNoting = true;

function inner(a, b) {
	if (isNoting)
		truth.note();
	let sum = a;
	for (let i = 0; i < 40; i++)
		sum = (sum ^ (b + i)) * 3 & 0xffff;
	return sum;
}

function mid(a) {
	let total = 0;

	for (let i = 0; i < 30; i++) {
		total += inner(a + i, i);
		total &= 0xffffff;
	}
	return total;
}

class Outer {
	constructor(value) {
		this.value = value;
	}

	step(by) {
		return mid(this.value) +
			mid(by);
	}
}

function fib(n) {
	if (isNoting)
		truth.note();
	if (n < 2)
		return n;
	return fib(n - 1) +
		fib(n - 2);
}

function compute() {
	const outer = new Outer(7);
	let total = 0;

	for (let i = 0; i < 20; i++)
		total += outer.step(i);
	return total + fib(12);
}

function main() {
	for (let turn = 0;; turn++) {
		compute();
		if (turn === 0) {
			truth.tell(process.argv[2]);
			isNoting = false;
		}
	}
}

main();
