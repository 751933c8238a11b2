// SPDX-License-Identifier: Apache-2.0
/* A load whose stacks are known (truth.js).
 *
 *	load.js DIRECTORY calls | deep DEPTH | workers | async */
"use strict";
const truth = require("./truth.js");
const threads = require("worker_threads");

const ROUNDS = 20000;
const NR_WORKERS = 2;

function work(rounds = ROUNDS) {
	truth.note();
	let total = 0;
	for (let i = 0; i < rounds; i++)
		total = (Math.imul(total, 1103515245) + i) & 0x7fffffff;
	return total;
}

function recurse(depth) {
	if (depth === 0)
		return work();
	return recurse(depth - 1) + 1;
}

class Shape {
	constructor(size) {
		this.size = size + (work() & 1);
	}

	static make(size) {
		return new this(size);
	}

	get area() {
		return work();
	}

	set area(value) {
		this.size = work() & value;
	}

	grow() {
		return this.measure(() => work());
	}

	measure(unit) {
		return unit() + this.size;
	}

	#secret() {
		return work();
	}

	tell() {
		return this.#secret();
	}

	[Symbol.toPrimitive]() {
		return work();
	}

	toJSON() {
		return work();
	}
}

class Circle extends Shape {
	constructor(size) {
		super(size);
		this.radius = work();
	}

	grow() {
		return super.grow() + work();
	}
}

function methods() {
	const circle = Circle.make(3);
	circle.grow();
	circle.area = circle.area & 7;
	return circle.tell() + circle + JSON.stringify(circle).length;
}

function closures() {
	let count = 0;
	const outer = () => {
		const inner = function () {
			count += work();
			return count;
		};
		return inner();
	};
	return outer() + (function named() {
		return work();
	})();
}

function* generate(nr) {
	for (let i = 0; i < nr; i++)
		yield work();
}

function* delegate(nr) {
	yield* generate(nr);
}

function generators() {
	let total = 0;
	for (const value of generate(2))
		total += value + work();
	return total + [...delegate(2)].length;
}

function compare(a, b) {
	return (work() & 0) + a - b;
}

function callbacks() {
	[3, 1, 2].sort(compare);
	[1, 2].map(value => work() + value).filter(function positive(value) {
		return work() > value;
	});
	[1, 2].forEach(() => work());
	[1, 2, 3].reduce((total, value) => total + value + work(), 0);
	"a-b".replace(/-/, () => String(work()));
	Array.from([1, 2], value => value + work());
	Reflect.apply(compare, null, [1, 2]);
	compare.call(null, 1, 2);
	compare.bind(null, 1)(2);
	const proxy = new Proxy({}, {get: () => work()});
	return proxy.any;
}

function fail() {
	work();
	throw new Error("as it must");
}

function exceptions() {
	try {
		fail();
	} catch (error) {
		work();
	} finally {
		work();
	}
}

function texts() {
	const made = new Function("work", "\n\nreturn work();");
	made(work);
	return eval("(function evaluated() {\n\treturn work();\n})()\n//# sourceURL=evaluated.js");
}

const größe = () => 数える();

function 数える() {
	return work();
}

const table = {
	plain() {
		return work();
	},
	arrow: () => work(),
};

function tables() {
	return table.plain() + table.arrow();
}

/* One call, six kinds of receivers. */
const kinds = [Circle.make(1), Shape.make(2), table, {plain: () => work(), grow: () => work()},
	new (class Ring extends Circle {
		grow() {
			return work();
		}
	})(3), new (class {
		grow() {
			return work();
		}
	})()];
table.grow = function () {
	return work();
};

function megamorphic() {
	let total = 0;
	for (const kind of kinds)
		total += kind.grow();
	return total;
}

const CALLS = [methods, closures, generators, callbacks, exceptions, texts, tables, megamorphic, () => größe(),
	() => recurse(10)];

function calls() {
	for (const call of CALLS)
		call();
}

async function rest(depth) {
	if (depth === 0) {
		work();
		await null;
		return work();
	}
	const found = await rest(depth - 1);
	return found + work();
}

async function* rows() {
	yield work();
	await null;
	yield work();
}

async function tasks() {
	await Promise.all([rest(2), rest(3)]);
	for await (const row of rows())
		work(ROUNDS + (row & 1));
	await new Promise(resolve => {
		work();
		setImmediate(() => resolve(work()));
	});
	await Promise.resolve(1).then(function then(value) {
		return work() + value;
	});
}

function serve(call, argument, told) {
	for (let turn = 0;; turn++) {
		call(argument);
		if (turn === 0)
			told();
	}
}

/* Only the first turn begins in main(). */
async function serveAsync(directory) {
	for (let turn = 0;; turn++) {
		await tasks();
		if (turn === 1)
			truth.tell(directory);
	}
}

/* Only the main thread knows the process, and writes. */
function serveInWorkers(directory) {
	const found = [];
	for (let i = 0; i < NR_WORKERS; i++) {
		const worker = new threads.Worker(__filename, {argv: process.argv.slice(2)});
		worker.on("message", chains => {
			found.push(chains);
			if (found.length === NR_WORKERS)
				truth.tell(directory, found.flat());
		});
	}
}

function main() {
	const [directory, name, argument] = process.argv.slice(2);
	if (!threads.isMainThread)
		serve(calls, 0, () => threads.parentPort.postMessage(truth.take()));
	else if (name === "workers")
		serveInWorkers(directory);
	else if (name === "async")
		serveAsync(directory);
	else
		serve(name === "deep" ? recurse : calls, Number(argument), () => truth.tell(directory));
}

main();
