/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for what is too narrow to be drawn in make_profile's large picture; as flamegraph_scenario.js. */
'use strict';
(function () {
	const notes = {};
	const field = document.querySelector('input');
	const rects = () => document.querySelectorAll('#frames > rect');

	const narrow = () => document.getElementById('narrow').textContent;

	notes.boxes = rects().length;
	field.value = 'needle';
	field.dispatchEvent(new Event('input'));
	notes.needle = document.getElementById('matched').textContent;
	notes.lit = document.querySelectorAll('#frames > .match').length;
	rects()[2].dispatchEvent(new MouseEvent('click', { bubbles: true })); /* behind the root and the process */
	notes.litZoomed = document.querySelectorAll('#frames > .match').length;
	notes.labels = Array.from(document.querySelectorAll('#frames > text'), (t) => t.textContent)
		.slice(0, 3);
	notes.narrow = narrow();
	document.getElementById('reset').dispatchEvent(new MouseEvent('click'));
	document.getElementById('callers').dispatchEvent(new MouseEvent('click'));
	notes.narrowCallers = narrow();
	document.getElementById('callers').dispatchEvent(new MouseEvent('click'));
	notes.narrowAgain = narrow();

	const desc = document.createElementNS('http://www.w3.org/2000/svg', 'desc');
	desc.id = 'notes';
	desc.textContent = JSON.stringify(notes);
	document.documentElement.appendChild(desc);
})();
