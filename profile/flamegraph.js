/* SPDX-License-Identifier: Apache-2.0 */
/* Zoom and search for the flame graphs of svg.c.
 *
 * The picture is complete without this script. Its boxes are the groups in #frames, in
 * depth-first order: the descendants of a box are the boxes right behind it that are deeper.
 * Depth follows from y, place and width are percentages of #frames. All of that is read once
 * into `boxes`; zooming writes new percentages into the same elements. */
'use strict';
(function () {
	const SVG = 'http://www.w3.org/2000/svg';
	const XHTML = 'http://www.w3.org/1999/xhtml';
	const ROW_PX = 18;
	const CHAR_PX = 7.25;
	const LABEL_PAD_PX = 4;
	const LABEL_MIN_CHARS = 3;
	const MARGIN_PX = 10;
	const HINT = 'Click a box to zoom, Ctrl-F to search, Esc to go back';

	const svg = document.documentElement;
	const frames = document.getElementById('frames');
	const header = document.getElementById('header');
	const details = document.getElementById('details');
	const boxes = readBoxes();
	const maxDepth = boxes.reduce((max, box) => Math.max(max, box.depth), 0);
	let framesPx = 0;
	let focus = 0; /* index of the box that fills the width */
	/* Root on top; at first, if it would be out of sight at the bottom. */
	let isFlipped = svg.height.baseVal.value > window.innerHeight;

	function readBoxes() {
		const found = Array.from(frames.children, readBox);
		const bottom = found.length ? found[0].y : 0; /* the root's */
		const path = []; /* indexes of the ancestors of the box at hand */

		found.forEach((box, i) => {
			box.depth = Math.round((bottom - box.y) / ROW_PX);
			path.length = box.depth;
			box.parent = box.depth > 0 ? path[box.depth - 1] : -1;
			path.push(i);
			box.end = i + 1; /* behind its last descendant */
			path.forEach((ancestor) => { found[ancestor].end = i + 1; });
		});
		return found;
	}

	function readBox(group) {
		const rect = group.querySelector('rect');
		/* name (samples, share), and on a second line whatever else is known */
		const [title, more] = group.querySelector('title').textContent.split('\n');

		return {
			group, rect, title: more ? `${title} \u00b7 ${more}` : title,
			text: group.querySelector('text'),
			name: title.slice(0, title.lastIndexOf(' (')),
			x: parseFloat(rect.getAttribute('x')),
			width: parseFloat(rect.getAttribute('width')),
			y: parseFloat(rect.getAttribute('y')),
			isMatch: false,
		};
	}

	function element(parent, namespace, name, attributes) {
		const made = document.createElementNS(namespace, name);

		for (const [key, value] of Object.entries(attributes))
			made.setAttribute(key, value);
		return parent.appendChild(made);
	}

	/* -- drawing -- */

	function label(name, px) {
		const chars = Array.from(name);
		const room = Math.floor((px - 2 * LABEL_PAD_PX) / CHAR_PX);

		if (room < LABEL_MIN_CHARS)
			return '';
		return chars.length <= room ? name : chars.slice(0, room - 1).join('') + '\u2026';
	}

	function place(box, x, width) {
		const top = (isFlipped ? box.depth : maxDepth - box.depth) * ROW_PX;
		const text = label(box.name, framesPx * width / 100);

		box.rect.setAttribute('x', x + '%');
		box.rect.setAttribute('width', width + '%');
		box.rect.setAttribute('y', top);
		if (text && !box.text)
			box.text = element(box.group, SVG, 'text', { dx: LABEL_PAD_PX });
		if (box.text) {
			box.text.textContent = text;
			box.text.setAttribute('x', x + '%');
			box.text.setAttribute('y', top + 13);
		}
		box.group.style.display = '';
	}

	function draw() {
		const wide = boxes[focus];
		const zoom = 100 / wide.width;
		const ancestors = new Set();

		for (let i = wide.parent; i >= 0; i = boxes[i].parent)
			ancestors.add(i);
		boxes.forEach((box, i) => {
			box.group.classList.toggle('ancestor', ancestors.has(i));
			if (ancestors.has(i))
				place(box, 0, 100);
			else if (i >= focus && i < wide.end)
				place(box, (box.x - wide.x) * zoom, box.width * zoom);
			else
				box.group.style.display = 'none';
		});
		resetButton.classList.toggle('off', focus === 0);
	}

	function zoomTo(i) {
		focus = i;
		draw();
	}

	/* -- search -- */

	function pattern(text) {
		/* Capitals in the pattern make it tell capitals apart. */
		return new RegExp(text, text === text.toLowerCase() ? 'i' : '');
	}

	/* Share of all samples with a match in their stack: a match below another one counts
	 * once. */
	function markMatches(regex) {
		let share = 0, nr = 0, coveredEnd = 0;

		boxes.forEach((box, i) => {
			box.isMatch = regex !== null && regex.test(box.name);
			box.group.classList.toggle('match', box.isMatch);
			if (!box.isMatch)
				return;
			nr++;
			if (i >= coveredEnd) {
				share += box.width;
				coveredEnd = box.end;
			}
		});
		return { share, nr };
	}

	function matchText(found) {
		return `matched ${found.share.toFixed(2)} %, boxes: ${found.nr}`;
	}

	function search() {
		let regex = null;

		matched.classList.remove('bad');
		try {
			regex = field.value ? pattern(field.value) : null;
		} catch (error) {
			matched.classList.add('bad');
		}
		const found = markMatches(regex);
		if (matched.classList.contains('bad'))
			matched.textContent = 'not a regular expression';
		else
			matched.textContent = regex ? matchText(found) : '';
	}

	function clearSearch() {
		field.value = '';
		search();
		field.blur();
	}

	/* -- controls, made here because they need the script -- */

	function button(name, x, width, action) {
		const group = element(controls, SVG, 'g', {
			class: 'button', role: 'button', tabindex: 0,
			transform: `translate(${x},${MARGIN_PX})`,
		});

		element(group, SVG, 'rect', { width, height: 26 });
		element(group, SVG, 'text', { x: width / 2, y: 17 }).textContent = name;
		group.addEventListener('click', action);
		group.addEventListener('keydown', (event) => {
			if (event.key === 'Enter' || event.key === ' ')
				action();
		});
		return group;
	}

	function searchField() {
		const frame = element(controls, SVG, 'foreignObject',
			{ x: -460, y: MARGIN_PX, width: 210, height: 26 });
		const input = element(frame, XHTML, 'input', {
			type: 'text', placeholder: 'regular expression', 'aria-label': 'Search',
			spellcheck: 'false',
		});

		input.addEventListener('input', search);
		return input;
	}

	function flip() {
		isFlipped = !isFlipped;
		draw();
		showRoot();
	}

	/* Scrolls to where the root is. */
	function showRoot() {
		window.scrollTo(0, isFlipped ? 0 : svg.scrollHeight);
		stick();
	}

	/* The header stays in sight when the picture is scrolled. */
	function stick() {
		header.setAttribute('transform', `translate(0,${Math.max(0, window.scrollY)})`);
	}

	function resize() {
		const px = Math.max(svg.clientWidth || window.innerWidth, 640);

		framesPx = px - 2 * MARGIN_PX;
		frames.setAttribute('width', framesPx);
		controls.setAttribute('transform', `translate(${px - MARGIN_PX},0)`);
		draw();
	}

	function boxOf(event) {
		const group = event.target.closest('#frames > g');

		return group ? boxes.findIndex((box) => box.group === group) : -1;
	}

	function onKey(event) {
		if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f') {
			event.preventDefault();
			field.focus();
			field.select();
		} else if (event.key === 'Escape') {
			if (field.value)
				clearSearch();
			else
				zoomTo(0);
		}
	}

	const controls = element(header, SVG, 'g', { id: 'controls' });
	element(controls, SVG, 'rect', { class: 'page', x: -468, width: 468, height: 40 });
	const field = searchField();
	const searchButton = button('Search', -242, 66, () => { search(); field.focus(); });
	const resetButton = button('Reset zoom', -168, 92, () => zoomTo(0));
	const flipButton = button('Flip', -68, 68, flip);
	const matched = element(controls, SVG, 'text', { class: 'matched', id: 'matched', y: 76 });

	searchButton.id = 'search';
	resetButton.id = 'reset';
	flipButton.id = 'flip';
	svg.removeAttribute('viewBox');
	svg.setAttribute('width', '100%');
	frames.addEventListener('click', (event) => {
		const i = boxOf(event);
		if (i >= 0)
			zoomTo(i);
	});
	frames.addEventListener('mouseover', (event) => {
		const i = boxOf(event);
		details.textContent = i >= 0 ? boxes[i].title : HINT;
	});
	frames.addEventListener('mouseleave', () => { details.textContent = HINT; });
	window.addEventListener('keydown', onKey);
	window.addEventListener('resize', resize);
	window.addEventListener('scroll', stick);
	details.textContent = HINT;
	resize();
})();
