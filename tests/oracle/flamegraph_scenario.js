/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the flame graph of make_profile the way a person does and notes what is to be seen. Added
 * to the picture by check_svg_browser.py, which reads the notes from #notes. */
'use strict';
(function () {
	const notes = {};
	const boxes = Array.from(document.querySelectorAll('#frames > g'));
	const field = document.querySelector('input');

	function box(name) {
		const start = `${name} (`;

		return boxes.find((g) => g.querySelector('title').textContent.startsWith(start));
	}

	function click(element) {
		element.dispatchEvent(new MouseEvent('click', { bubbles: true }));
	}

	function press(key, modifiers) {
		const event = new KeyboardEvent('keydown',
			Object.assign({ key, bubbles: true, cancelable: true }, modifiers));

		return !window.dispatchEvent(event); /* whether the browser's own action is off */
	}

	function type(text) {
		field.value = text;
		field.dispatchEvent(new Event('input'));
		return document.getElementById('matched').textContent;
	}

	function state(name) {
		const rect = box(name).querySelector('rect');

		return [
			box(name).style.display === 'none' ? 'hidden' : 'shown',
			box(name).classList.contains('ancestor') ? 'faded' : 'clear',
			Number(parseFloat(rect.getAttribute('x')).toFixed(2)),
			Number(parseFloat(rect.getAttribute('width')).toFixed(2)),
		].join(' ');
	}

	function states() {
		const names = ['all', 'kswapd0', 'nginx', 'http::serve(int)', 'vfs_read',
			'[stack cut here]'];

		return names.map(state);
	}

	notes.start = states();
	click(box('http::serve(int)').querySelector('rect'));
	notes.zoomed = states();
	notes.label = box('http::serve(int)').querySelector('text').textContent;
	press('Escape');
	notes.escaped = states();
	click(box('[stack cut here]'));
	click(document.getElementById('reset'));
	notes.reset = states();

	notes.ctrlF = press('f', { ctrlKey: true });
	notes.focused = document.activeElement === field;
	notes.one = type('^kswapd0$');
	notes.nested = type('serve|vfs_|do_sys');
	notes.lit = boxes.filter((g) => g.classList.contains('match')).length;
	notes.anyCase = type('VFS_'.toLowerCase());
	notes.sameCase = type('VFS_');
	notes.bad = type('(');
	press('Escape');
	notes.cleared = [field.value, document.getElementById('matched').textContent,
		boxes.filter((g) => g.classList.contains('match')).length];

	notes.rootTop = box('all').querySelector('rect').getAttribute('y');
	click(document.getElementById('flip'));
	notes.flippedTop = box('all').querySelector('rect').getAttribute('y');

	notes.source = type('parse[.]hh'); /* names are searched, files are not */
	type('');
	box('http::parse(char*)').dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
	notes.details = document.getElementById('details').textContent;

	const desc = document.createElementNS('http://www.w3.org/2000/svg', 'desc');
	desc.id = 'notes';
	desc.textContent = JSON.stringify(notes);
	document.documentElement.appendChild(desc);
})();
