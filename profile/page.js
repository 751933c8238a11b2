/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of html.c: a click on a heading sorts, a text filters, and a click on a function searches for it in the
 * flame graph. Without this script, the tables are complete. */
'use strict';
(function () {
	const table = document.querySelector('.functions table');
	const body = table.tBodies[0];
	const heads = Array.from(table.tHead.rows[0].cells);
	const rows = Array.from(body.rows);

	function keyOf(row, column) {
		const cell = row.cells[column];

		return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
	}

	function compare(a, b) {
		return typeof a === 'number' ? a - b : a.localeCompare(b);
	}

	/* Numbers begin with the largest, names with the first. */
	function sortBy(column) {
		const isNumber = typeof keyOf(rows[0], column) === 'number';
		const before = heads[column].getAttribute('aria-sort');
		const isDescending = before ? before === 'ascending' : isNumber;

		for (const head of heads)
			head.removeAttribute('aria-sort');
		heads[column].setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
		rows.sort((a, b) => compare(keyOf(a, column), keyOf(b, column)) * (isDescending ? -1 : 1));
		body.replaceChildren(...rows);
	}

	function filter(text) {
		const wanted = text.toLowerCase();

		for (const row of rows)
			row.hidden = !row.textContent.toLowerCase().includes(wanted);
	}

	/* The search field of the flame graph takes a regular expression. */
	function find(name) {
		const field = document.querySelector('#controls input');

		field.value = `^${name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}$`;
		field.dispatchEvent(new Event('input'));
		document.querySelector('.graph').scrollIntoView({ behavior: 'smooth' });
	}

	function addFilter() {
		const field = document.createElement('input');

		field.className = 'filter';
		field.placeholder = 'Filter functions';
		field.spellcheck = false;
		field.setAttribute('aria-label', 'Filter functions');
		field.addEventListener('input', () => filter(field.value));
		document.querySelector('.functions').prepend(field);
	}

	if (rows.length === 0)
		return;
	addFilter();
	heads.forEach((head, column) => head.addEventListener('click', () => sortBy(column)));
	body.addEventListener('click', (event) => {
		const button = event.target.closest('.find');

		if (button)
			find(button.textContent);
	});
})();
