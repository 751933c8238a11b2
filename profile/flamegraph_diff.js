/* SPDX-License-Identifier: Apache-2.0 */
/* What flamegraph.js needs for the picture of a diff (diff_svg.h): the colours of changes, and what titles say. */
'use strict';
const flamegraphDiff = (function () {
	const STANDARD_ERRORS = 2, CONTINUITY_SAMPLES = 0.5, CHANGE_MIN_SAMPLES = 2, ROUNDING = 1e-12;
	const COLOR_EXPONENT = 0.7;
	const PARTIAL_MAX = 0.75;
	const GREY = [0xe9, 0xea, 0xed];
	/* A small change has nearly the first colour and a large one the second. The first palette is diff_svg.c's; people who
	 * cannot tell red from grey can tell the second one's colours. */
	const PALETTES = [
		{ grew: [[0xfd, 0xe2, 0xda], [0xe5, 0x53, 0x41]], shrank: [[0xdb, 0xe9, 0xfb], [0x4f, 0x8f, 0xe6]] },
		{ grew: [[0xfd, 0xec, 0xcb], [0xf0, 0x92, 0x0a]], shrank: [[0xdb, 0xe9, 0xfb], [0x4f, 0x8f, 0xe6]] },
	];
	const lines = document.getElementById('diff').textContent.trim().split('\n');
	const scale = Number(lines[0]), comparesShares = lines[1] === '1', hasNoise = lines[2] === '1';
	const [cpusBefore, cpusAfter] = lines[3].split(' ').map(Number);
	let totalBefore = 0, totalAfter = 0;

	function setTotals(before, after) {
		totalBefore = before;
		totalAfter = after;
	}

	/* As diff.c. */
	function noise(before, after) {
		const count = before + after;
		const share = comparesShares ? count / (totalBefore + totalAfter) : 0;
		const error = Math.sqrt(scale * count * Math.max(1 - share, 0));
		const limit = STANDARD_ERRORS * error + CONTINUITY_SAMPLES * (1 + scale);

		return hasNoise ? Math.max(limit, CHANGE_MIN_SAMPLES * Math.max(1, scale)) : 0;
	}

	function relative(before, after) {
		const change = after - before * scale, larger = Math.max(before * scale, after);

		return Math.abs(change) <= Math.max(noise(before, after), ROUNDING * larger) ? 0 : change / larger;
	}

	function colorOf(change, palette) {
		const position = Math.pow(Math.abs(change), COLOR_EXPONENT) * (Math.abs(change) < 1 ? PARTIAL_MAX : 1);
		const [from, to] = change > 0 ? PALETTES[palette].grew : PALETTES[palette].shrank;
		const parts = change === 0 ? GREY : from.map((part, i) => Math.round(part + (to[i] - part) * position));

		return `rgb(${parts})`;
	}

	function percent(count, total) {
		return total ? 100 * count / total : 0;
	}

	/* As the pictures without scripts. */
	function title(before, after, values) {
		const shares = [percent(before, totalBefore), percent(after, totalAfter)];
		const points = shares[1] - shares[0];
		const said = [`${shares[0].toFixed(2)} % \u2192 ${shares[1].toFixed(2)} %, ` +
			`${points < 0 ? '' : '+'}${points.toFixed(2)} points`];

		if (cpusBefore > 0 && cpusAfter > 0)
			said.push(`${(cpusBefore * before).toFixed(3)} \u2192 ${(cpusAfter * after).toFixed(3)} CPUs`);
		said.push(`${before.toLocaleString('en-US')} \u2192 ${after.toLocaleString('en-US')} ${values}`);
		if (before === 0)
			said.push('new');
		if (after === 0)
			said.push('gone');
		if (hasNoise && relative(before, after) === 0)
			said.push('within sampling noise');
		return said.join('; ');
	}

	return { colorOf, nrPalettes: PALETTES.length, relative, setTotals, title };
})();
