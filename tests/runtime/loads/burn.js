// SPDX-License-Identifier: Apache-2.0
/* Is busy in one function for that much CPU time, and says how much it was: burn.js SECONDS */
"use strict";

function burn(seconds) {
	const begin = process.cpuUsage();
	for (;;) {
		const used = process.cpuUsage(begin);
		if (used.user + used.system >= seconds * 1e6)
			return (used.user + used.system) / 1e6;
		for (let i = 0; i < 10000; i++)
			Math.sqrt(i);
	}
}

console.log(burn(Number(process.argv[2])));
