/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the picture of a diff; as flamegraph_scenario.js. */
'use strict';
(function () {
	const notes = {};
	const field = document.querySelector('input');

	function titleOf(rect) {
		rect.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
		return rect.querySelector('title').textContent;
	}

	function box(name) {
		return Array.from(document.querySelectorAll('#frames > rect'))
			.find((rect) => titleOf(rect).startsWith(`${name} (`));
	}

	function click(element, modifiers) {
		element?.dispatchEvent(new MouseEvent('click', Object.assign({ bubbles: true }, modifiers)));
	}

	/* Place and width in percent of the picture, and the colour. */
	function state(name) {
		const all = parseFloat(document.getElementById('frames').getAttribute('width'));
		const rect = box(name);
		const part = (attribute) => Math.round(100 * parseFloat(rect.getAttribute(attribute)) / all);

		return rect ? `${part('x')} ${part('width')} ${rect.getAttribute('fill')}` : 'hidden';
	}

	function states() {
		return ['all', 'serve', 'parse', 'brotli', 'zlib', 'old'].map(state);
	}

	function press(id) {
		click(document.getElementById(id));
	}

	notes.start = states();
	notes.title = titleOf(box('brotli'));
	notes.noise = titleOf(box('parse'));
	field.value = 'zlib|brotli';
	field.dispatchEvent(new Event('input'));
	notes.matched = document.getElementById('matched').textContent;
	field.value = '';
	field.dispatchEvent(new Event('input'));

	press('side');
	notes.before = states();
	notes.gone = titleOf(box('zlib'));
	notes.beforeHash = location.hash;
	notes.beforeButton = document.getElementById('side').textContent;
	press('side');
	notes.afterAgain = states();

	press('palette');
	notes.otherColors = [state('brotli'), location.hash];
	press('palette');

	/* What is not there any more cannot fill the width. */
	click(box('brotli'));
	press('side');
	notes.zoomedOut = [location.hash, state('serve')];
	press('side');
	press('reset');

	press('callers');
	notes.ownTime = [state('brotli'), state('zlib')];
	press('side');
	notes.ownTimeBefore = [state('brotli'), state('zlib')];
	press('side');
	press('callers');
	click(box('serve'), { shiftKey: true });
	notes.callers = titleOf(box('serve'));
	press('callers');

	location.hash = '#zoom=0&flip=0&before=1&palette=1';
	window.dispatchEvent(new HashChangeEvent('hashchange'));
	notes.linked = [state('zlib'), state('brotli')];

	const desc = document.createElementNS('http://www.w3.org/2000/svg', 'desc');
	desc.id = 'notes';
	desc.textContent = JSON.stringify(notes);
	document.documentElement.appendChild(desc);
})();
