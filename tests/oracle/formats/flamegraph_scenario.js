/* SPDX-License-Identifier: Apache-2.0 */
/* Uses a flame graph the way a person does and notes what is to be seen. Added to the picture by check_svg_browser.py, which
 * reads the notes from #notes. */
'use strict';
(function () {
	const notes = {};
	const field = document.querySelector('input');

	function point(element) {
		element.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
	}

	function titleOf(rect) {
		point(rect);
		return rect.querySelector('title').textContent;
	}

	function box(name) {
		const rects = Array.from(document.querySelectorAll('#frames > rect'));

		return rects.find((rect) => titleOf(rect).startsWith(`${name} (`));
	}

	function click(element, modifiers) {
		const event = new MouseEvent('click', Object.assign({ bubbles: true }, modifiers));

		element?.dispatchEvent(event);
	}

	function press(key, modifiers) {
		const event = new KeyboardEvent('keydown',
			Object.assign({ key, bubbles: true, cancelable: true }, modifiers));

		return !window.dispatchEvent(event); /* whether the browser's own action is off */
	}

	function pressOn(element, key) {
		return !element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
	}

	function type(text) {
		field.value = text;
		field.dispatchEvent(new Event('input'));
		return document.getElementById('matched').textContent;
	}

	/* Place and width in percent of the picture. */
	function state(name) {
		const all = parseFloat(document.getElementById('frames').getAttribute('width'));
		const rect = box(name);

		if (!rect)
			return 'hidden';
		return [
			rect.classList.contains('ancestor') ? 'faded' : 'clear',
			Math.round(100 * parseFloat(rect.getAttribute('x')) / all),
			Math.round(100 * parseFloat(rect.getAttribute('width')) / all),
		].join(' ');
	}

	function states() {
		const names = ['all', 'kswapd0', 'nginx', 'http::serve(int)', 'vfs_read',
			'[stack truncated here]'];

		return names.map(state);
	}

	function nrLit() {
		return document.querySelectorAll('#frames > .match').length;
	}

	/* As a link, a reload or "back" do. The browser tells of the new fragment a little later. */
	function goTo(fragment) {
		location.hash = fragment;
		window.dispatchEvent(new HashChangeEvent('hashchange'));
	}

	notes.start = states();
	notes.hash = location.hash;
	click(box('http::serve(int)'));
	notes.zoomed = states();
	notes.zoomedHash = location.hash;
	notes.label = Array.from(document.querySelectorAll('#frames > text'), (t) => t.textContent);
	goTo('');
	notes.back = states();
	click(box('http::serve(int)'));
	press('Escape');
	notes.escaped = states();
	click(box('[stack truncated here]'));
	click(document.getElementById('reset'));
	notes.reset = states();

	notes.ctrlF = press('f', { ctrlKey: true });
	notes.focused = document.activeElement === field;
	notes.one = type('^kswapd0$');
	notes.searchHash = location.hash;
	notes.nested = type('serve|vfs_|do_sys');
	notes.lit = nrLit();
	notes.anyCase = type('VFS_'.toLowerCase());
	notes.sameCase = type('VFS_');
	notes.classCase = type('^java\\Sain$'); /* JavaMain, not java */
	notes.bad = type('(');
	press('Escape');
	notes.cleared = [field.value, document.getElementById('matched').textContent, nrLit()];

	notes.rootTop = box('all').getAttribute('y');
	click(document.getElementById('flip'));
	notes.flippedTop = box('all').getAttribute('y');
	goTo('');
	notes.flipBackTop = box('all').getAttribute('y');
	notes.space = pressOn(document.getElementById('flip'), ' ');
	notes.spaceTop = box('all').getAttribute('y');

	notes.source = type('parse[.]hh'); /* names are searched, files are not */
	type('');
	point(box('http::parse(char*)') ?? box('all'));
	notes.details = document.getElementById('details').textContent;

	click(box('main'), { shiftKey: true });
	notes.callers = ['callers of main', 'main', 'nginx', 'postgres', 'all'].map(state);
	notes.callersHash = location.hash;
	press('Escape');
	notes.noCallers = states();
	click(document.getElementById('callers'));
	notes.ownTime = ['all functions, by their own time', 'vfs_read', 'http::parse(char*)',
		'json.encode'].map(state);
	click(box('vfs_read'));
	notes.ownTimeZoomed = ['vfs_read', 'do_syscall_64', 'nginx'].map(state);
	click(document.getElementById('callers'));
	notes.allStacks = states();

	goTo('#zoom=0&callers=http%3A%3Aserve%28int%29&search=ngi&flip=1');
	notes.linked = [state('callers of http::serve(int)'), state('nginx'), nrLit(),
		field.value];
	goTo('#zoom=999999&callers=no+such+function&flip=x');
	notes.badLink = [state('all'), location.hash];

	const desc = document.createElementNS('http://www.w3.org/2000/svg', 'desc');
	desc.id = 'notes';
	desc.textContent = JSON.stringify(notes);
	document.documentElement.appendChild(desc);
})();
