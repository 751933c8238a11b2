/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the page of html.c the way a person does and notes what is to be seen. Added to the page by check_html_browser.py,
 * which reads the notes from #notes. */
'use strict';
(function () {
	const notes = {};
	const table = document.querySelector('.functions table');
	const graph = document.querySelector('.graph');

	function names() {
		return Array.from(table.tBodies[0].rows).filter((row) => !row.hidden)
			.map((row) => row.querySelector('.find').textContent);
	}

	function clickHead(column) {
		table.tHead.rows[0].cells[column].click();
		return names().slice(0, 2);
	}

	function type(text) {
		const field = document.querySelector('.filter');

		field.value = text;
		field.dispatchEvent(new Event('input'));
		return names();
	}

	function colorOf(selector) {
		return getComputedStyle(document.querySelector(selector)).backgroundColor;
	}

	notes.boxes = document.querySelectorAll('#frames > rect').length;
	notes.controls = document.querySelectorAll('#controls .button').length;
	notes.rootTop = document.querySelector('#frames > rect').getAttribute('y');
	notes.scrolled = [window.scrollY, graph.scrollTop];
	notes.first = names().slice(0, 2);
	notes.byTotal = clickHead(1);
	notes.byName = clickHead(2);
	notes.byNameBack = clickHead(2);
	notes.filtered = type('VFS');
	notes.all = type('').length;
	Array.from(table.querySelectorAll('.find')).find((find) => find.textContent === 'vfs_read').click();
	notes.found = document.getElementById('matched').textContent;
	notes.search = document.querySelector('#controls input').value;
	notes.headings = Array.from(document.querySelectorAll('h2'), (heading) => heading.textContent);
	notes.cards = Array.from(document.querySelectorAll('.card'), (card) => card.textContent);
	notes.page = colorOf('body');
	notes.wide = document.documentElement.scrollWidth > window.innerWidth;
	notes.injected = typeof window.injected;

	const element = document.createElement('pre');

	element.id = 'notes';
	element.hidden = true;
	element.textContent = JSON.stringify(notes);
	document.body.append(element);
})();
