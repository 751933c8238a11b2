/* SPDX-License-Identifier: Apache-2.0 */
/* Zoom, search and callers for the flame graphs of svg.c.
 *
 * The picture is complete without this script, but for boxes that are too narrow. The script reads the whole tree out of
 * #tree (svg_data.h) and draws into #frames what is to be seen of it: boxes of MIN_PX and more, of a view:
 *
 *	all		the tree itself
 *	callers		the tree of stacks turned round, from functions to those that called them: of one function, or of
 *			all, by the time that was spent in the function itself
 *
 * A view has its boxes in depth-first order, as arrays: the descendants of box i are i + 1 to end[i] - 1.
 *
 * In the picture of a diff, each box has two counts, after and before, and either of them is its width. What is special about
 * that is in flamegraph_diff.js.
 *
 * What is to be seen is in the URL's fragment (zoom=BOX&callers=NAME&search=TEXT&flip=1, of a diff also before=1&palette=1), so that a link, a reload and the
 * browser's "back" show it again. */
'use strict';
(function () {
	const SVG = 'http://www.w3.org/2000/svg';
	const XHTML = 'http://www.w3.org/1999/xhtml';
	const ROW_PX = 18;
	const CHAR_PX = 7.25;
	const LABEL_PAD_PX = 4;
	const LABEL_MIN_CHARS = 3;
	const MARGIN_PX = 10;
	const MIN_PX = 0.3; /* of a box that is drawn */
	const WIDE_PX = 4; /* narrower ones have no border, which would hide them, and takes a browser long */
	const MAX_CALLER_BOXES = 20000; /* smaller ones are left out of that view */
	const KIND_GO = 5; /* enum flame_kind */
	const HINT = 'Click a box to zoom, Shift-click for its callers, Ctrl-F to search, Esc to go back';
	const ROOT_COLOR = '#e5e7eb';

	const frames = document.getElementById('frames');
	const svg = frames.ownerSVGElement;
	const isInPage = svg !== document.documentElement; /* a part of a page of HTML */
	const header = document.getElementById('header');
	const details = document.getElementById('details');
	const narrow = document.getElementById('narrow');
	const headerPx = parseFloat(frames.getAttribute('y'));
	const diff = typeof flamegraphDiff === 'undefined' ? null : flamegraphDiff;
	let side = 0; /* whose counts are the widths: after or before; part of what the URL says */
	const tree = readTree();
	let view = tree.all;
	let framesPx = 0;
	let drawn = new Map(); /* what is in #frames: rectangles and their boxes */
	/* What the URL says. */
	let focus = 0; /* the box that fills the width */
	let callersOf = null; /* a function's name, '' for all functions, null for the view of the tree itself */
	let isFlipped = false; /* root on top */
	let palette = 0;

	/* -- the tree -- */

	function readTree() {
		const lines = document.getElementById('tree').textContent.split('\n');
		const nr = Number(lines[3]);
		const functions = [];

		for (let i = 0; i < nr; i++) {
			const [color, kind, name, source] = lines.slice(4 + 4 * i, 8 + 4 * i);

			functions.push({ color, kind: Number(kind), name, source });
		}
		const nodes = lines[4 + 4 * nr].trim().split(' ');
		const all = readView(functions, nodes);

		all.nrLeftOut = Number(lines[2]);
		return { value: lines[1], functions, all };
	}

	function newView() {
		const made = { what: [], counts: [[], []], start: [], depth: [], parent: [], end: [], maxDepth: 0,
			nrLeftOut: 0 };

		made.count = made.counts[side];
		return made;
	}

	/* `counts` are those of after and before. */
	function addBox(added, what, counts, depth, parent) {
		added.what.push(what);
		added.counts[0].push(counts[0]);
		added.counts[1].push(counts[1]);
		added.depth.push(depth);
		added.parent.push(parent);
		added.end.push(added.what.length);
		added.maxDepth = Math.max(added.maxDepth, depth);
		return added.what.length - 1;
	}

	function readView(functions, nodes) {
		const made = newView();
		const path = []; /* the box at hand and its ancestors, by depth */

		for (const node of nodes) {
			const [what, count, depth, before = 0] = node.split(',').map(Number);

			endBoxes(made, path, depth);
			path.push(addBox(made, functions[what], [count, before], depth, depth > 0 ? path[depth - 1] : -1));
		}
		endBoxes(made, path, 0);
		placeBoxes(made);
		return made;
	}

	/* Children stand side by side from where their parent starts. */
	function placeBoxes(made) {
		const next = []; /* where the next child of each starts */

		made.count = made.counts[side];
		made.count.forEach((count, i) => {
			const parent = made.parent[i];
			const start = parent < 0 ? 0 : next[parent];

			if (parent >= 0)
				next[parent] += count;
			next[i] = start;
			made.start[i] = start;
		});
	}

	/* The last ones of a path have no more descendants. */
	function endBoxes(made, path, depth) {
		while (path.length > depth)
			made.end[path.pop()] = made.what.length;
	}

	/* -- callers -- */

	/* The boxes that a view of callers begins with, and how much of each counts, after and before. A function that
	 * calls itself counts once, by its outermost box. */
	function boxesOf(name) {
		const all = tree.all;
		const found = [];

		for (let i = 1; i < all.what.length; i++) {
			if (all.what[i].name === name) {
				found.push([i, all.counts.map((counts) => counts[i])]);
				i = all.end[i] - 1;
			}
		}
		return found;
	}

	function boxesWithOwnTime() {
		const all = tree.all;
		const own = all.counts.map((counts) => counts.slice());

		for (let i = 1; i < all.what.length; i++)
			own.forEach((counts, of) => { counts[all.parent[i]] -= all.counts[of][i]; });
		return Array.from(own[0].keys()).filter((i) => i > 0 && (own[0][i] > 0 || own[1][i] > 0))
			.map((i) => [i, own.map((counts) => counts[i])]);
	}

	function sum(entries) {
		return entries.reduce((before, [, counts]) => before.map((count, of) => count + counts[of]), [0, 0]);
	}

	function compare(a, b) {
		return a < b ? -1 : Number(a > b);
	}

	/* Entries of functions that look alike, together, by name. */
	function group(entries) {
		const groups = new Map();

		for (const entry of entries) {
			const what = tree.all.what[entry[0]];
			const key = `${what.name}\n${what.color}`;

			if (!groups.has(key))
				groups.set(key, { what, entries: [] });
			groups.get(key).entries.push(entry);
		}
		return Array.from(groups.values()).sort((a, b) =>
			compare(a.what.name, b.what.name) || compare(a.what.color, b.what.color));
	}

	function addCallers(made, entries, depth, parent, minCounts) {
		for (const { what, entries: alike } of group(entries)) {
			const counts = sum(alike);

			if (counts.every((count, of) => count < minCounts[of])) {
				made.nrLeftOut++;
				continue;
			}
			const box = addBox(made, what, counts, depth, parent);
			const callers = alike.map(([i, part]) => [tree.all.parent[i], part])
				.filter(([i]) => i > 0);

			addCallers(made, callers, depth + 1, box, minCounts);
			made.end[box] = made.what.length;
		}
	}

	function callersView(name) {
		const entries = name ? boxesOf(name) : boxesWithOwnTime();
		const counts = sum(entries);
		const text = name ? `callers of ${name}` : 'all functions, by their own time';
		const made = newView();
		const root = { color: ROOT_COLOR, kind: 0, name: text, source: '' };

		addBox(made, root, counts, 0, -1);
		/* What is not there at all on one side is not more than enough there. */
		addCallers(made, entries, 1, 0, counts.map((count) => count / MAX_CALLER_BOXES || Infinity));
		made.end[0] = made.what.length;
		placeBoxes(made);
		return made;
	}

	/* -- drawing -- */

	function element(parent, namespace, name, attributes) {
		const made = document.createElementNS(namespace, name);

		for (const [key, value] of Object.entries(attributes))
			made.setAttribute(key, value);
		return parent.appendChild(made);
	}

	/* As flame_label.c. */
	function parametersOf(name) {
		const end = name.endsWith(' const') ? name.length - 6 : name.length;
		let depth = 0;

		if (name[end - 1] !== ')')
			return name.length;
		for (let i = end - 1; i > 0; i--) {
			depth += (name[i] === ')') - (name[i] === '(');
			if (depth === 0)
				return i;
		}
		return name.length;
	}

	function goNameOf(name) {
		return name.indexOf('.', name.lastIndexOf('/') + 1) + 1;
	}

	function goMethodOf(name) {
		const receiver = name.indexOf(').');

		return receiver < 0 ? 0 : receiver + 2;
	}

	function isSeparator(name, i) {
		return name[i] === '/' || name.startsWith('::', i);
	}

	function endOfName(name, kind, room) {
		const goName = kind === KIND_GO ? goNameOf(name) : 0;
		const goMethod = kind === KIND_GO ? goMethodOf(name) : 0;
		let last = 0;

		for (let i = 1; i < name.length; i++)
			if ((isSeparator(name, i) || i === goName || i === goMethod) && name.length - i < room)
				return '\u2026' + name.slice(i);
		for (let i = 0; i < name.length; i++) {
			const behind = i + (name[i] === ':' ? 2 : 1);

			if (isSeparator(name, i) && behind < name.length)
				last = behind;
		}
		last = Math.max(last, goName, goMethod);
		return name.length - last <= room ? name.slice(last)
			: name.slice(last, last + room - 1) + '\u2026';
	}

	function label(what, px) {
		const room = Math.floor((px - 2 * LABEL_PAD_PX) / CHAR_PX);
		const base = what.name.slice(0, parametersOf(what.name));

		if (room < LABEL_MIN_CHARS)
			return '';
		if (what.name.length <= room)
			return what.name;
		if (base.length < what.name.length && base.length < room)
			return base + '\u2026';
		return endOfName(base, what.kind, room);
	}

	function timeOf(ns) {
		const [size, unit] = [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s']].find(([size]) => ns >= size) ?? [1, 'ns'];

		return `${size > 1 ? (ns / size).toFixed(2) : ns} ${unit}`;
	}

	/* As in the picture without the script: name and share, and on a second line what else is known. */
	function titleOf(i) {
		const { name, source } = view.what[i];
		const count = view.count[i], total = tree.all.count[0];
		const value = tree.value + (count === 1 ? '' : 's');
		const share = total ? (100 * count / total).toFixed(2) : '100.00';
		const said = diff ? diff.title(view.counts[1][i], view.counts[0][i], `${tree.value}s`)
			: `${tree.value === 'nanosecond' ? timeOf(count) : `${count.toLocaleString('en-US')} ${value}`}, ${share} %`;

		return `${name} (${said})` + (source ? `\n${source}` : '');
	}

	function colorOf(i) {
		return diff ? diff.colorOf(diff.relative(view.counts[1][i], view.counts[0][i]), palette)
			: view.what[i].color;
	}

	/* Only what can be seen is there; below a box that is too narrow nothing can be seen. */
	function visibleBoxes() {
		const minCount = view.count[focus] * MIN_PX / framesPx;
		const found = [];

		for (let i = view.parent[focus]; i >= 0; i = view.parent[i])
			found.unshift(i);
		for (let i = focus; i < view.end[focus];) {
			const isWide = i === focus || view.count[i] >= minCount;

			if (isWide)
				found.push(i);
			i = isWide ? i + 1 : view.end[i];
		}
		return found;
	}

	function depthOf(visible) {
		return visible.reduce((max, i) => Math.max(max, view.depth[i]), 0);
	}

	/* Its title is made when the mouse is on it: most never are asked for. */
	function drawBox(parent, i, depthShown) {
		const what = view.what[i];
		const isAncestor = i < focus;
		const scale = framesPx / Math.max(view.count[focus], 1);
		const width = isAncestor || i === focus ? framesPx : view.count[i] * scale;
		const x = isAncestor ? 0 : (view.start[i] - view.start[focus]) * scale;
		const y = (isFlipped ? view.depth[i] : depthShown - view.depth[i]) * ROW_PX;
		const text = label(what, width);
		const rect = document.createElementNS(SVG, 'rect');

		if (isAncestor || width >= WIDE_PX)
			rect.setAttribute('class', isAncestor ? 'wide ancestor' : 'wide');
		rect.setAttribute('x', x.toFixed(2));
		rect.setAttribute('y', y);
		rect.setAttribute('width', width.toFixed(2));
		rect.setAttribute('height', ROW_PX - 1);
		rect.setAttribute('fill', colorOf(i));
		parent.append(rect);
		drawn.set(rect, i);
		if (text)
			element(parent, SVG, 'text', { x: (x + LABEL_PAD_PX).toFixed(2), y: y + 13 })
				.textContent = text;
	}

	/* The picture is as high as what is drawn. */
	function drawBoxes() {
		const parent = document.createDocumentFragment();
		const visible = visibleBoxes();
		const depthShown = depthOf(visible);
		const framesHeight = (depthShown + 1) * ROW_PX;

		drawn = new Map();
		for (const i of visible)
			drawBox(parent, i, depthShown);
		frames.replaceChildren(parent);
		frames.setAttribute('height', framesHeight);
		svg.setAttribute('height', headerPx + framesHeight + MARGIN_PX);
	}

	/* Of the whole view, as there are more than in the picture without the script. Those that are left out do not come
	 * back when one zooms; of callers, what is above them is left out as well and not counted. */
	function countNarrow() {
		const minCount = view.count[0] * MIN_PX / framesPx;
		const nr = view.count.filter((count) => count < minCount).length;
		const leftOut = callersOf === null ? 'smallest boxes left out'
			: 'smallest boxes left out, with their callers';

		narrow.textContent = numberOf('boxes too narrow before you zoom', nr) +
			numberOf(leftOut, view.nrLeftOut);
	}

	function numberOf(what, nr) {
		return nr ? ` \u00b7 ${what}: ${nr.toLocaleString('en-US')}` : '';
	}

	function draw() {
		drawBoxes();
		showMatches();
		resetButton.classList.toggle('off', focus === 0);
		callersButton.querySelector('text').textContent =
			callersOf === null ? 'Callers' : 'All stacks';
		if (diff)
			drawDiff();
	}

	function drawDiff() {
		sideButton.querySelector('text').textContent = side ? 'Width: before' : 'Width: after';
		for (const rect of header.querySelectorAll('[data-change]'))
			rect.setAttribute('fill', diff.colorOf(Number(rect.dataset.change), palette));
	}

	/* -- search -- */

	function pattern(text) {
		/* Capitals in the pattern make it tell capitals apart, but not that of "\S". */
		const letters = text.replace(/\\./g, '');

		return new RegExp(text, letters === letters.toLowerCase() ? 'i' : '');
	}

	function matchesOf(regex) {
		const known = new Map();

		return (what) => {
			if (!known.has(what))
				known.set(what, regex.test(what.name));
			return known.get(what);
		};
	}

	function shareOf(count, of) {
		const total = tree.all.counts[of][0];

		return (total ? 100 * count / total : 0).toFixed(2);
	}

	/* Share of all samples with a match in their stack: a match below another one counts
	 * once. Boxes that are too narrow to draw count as well. */
	function countMatches(isMatch) {
		const counts = [0, 0];
		let nr = 0, coveredEnd = 0;

		view.what.forEach((what, i) => {
			if (!isMatch(what))
				return;
			nr++;
			if (i >= coveredEnd) {
				counts[0] += view.counts[0][i];
				counts[1] += view.counts[1][i];
				coveredEnd = view.end[i];
			}
		});
		return { shares: counts.map(shareOf), nr };
	}

	function showMatches() {
		let isMatch = () => false;

		matched.textContent = '';
		matched.classList.remove('bad');
		try {
			if (field.value) {
				isMatch = matchesOf(pattern(field.value));
				const found = countMatches(isMatch);

				const before = diff ? `${found.shares[1]} % \u2192 ` : '';

				matched.textContent = `matched ${before}${found.shares[0]} %, boxes: ${found.nr}`;
			}
		} catch (error) {
			matched.classList.add('bad');
			matched.textContent = 'not a regular expression';
		}
		for (const [rect, i] of drawn)
			if (isMatch(view.what[i]) !== rect.classList.contains('match'))
				rect.classList.toggle('match');
	}

	/* -- what is to be seen, and the URL -- */

	function fragment() {
		const said = new URLSearchParams({ zoom: focus });

		if (callersOf !== null)
			said.set('callers', callersOf);
		if (field.value)
			said.set('search', field.value);
		said.set('flip', isFlipped ? 1 : 0);
		if (side)
			said.set('before', 1);
		if (palette)
			said.set('palette', palette);
		return `#${said}`;
	}

	/* As far as it is about this picture. */
	function readFragment() {
		const said = new URLSearchParams(location.hash.slice(1));
		const zoom = Number(said.get('zoom'));

		setSide(diff && said.get('before') === '1' ? 1 : 0);
		palette = diff ? Number(said.get('palette') === '1') : 0;
		setView(said.get('callers'));
		focus = Number.isInteger(zoom) && zoom > 0 && zoom < view.what.length ? zoom : 0;
		raiseFocus();
		field.value = said.get('search') ?? '';
		isFlipped = said.has('flip') ? said.get('flip') === '1' : isFlippedAtFirst;
	}

	function setSide(wanted) {
		side = wanted;
		placeBoxes(tree.all);
		placeBoxes(view);
	}

	/* Of a function that is not in the picture there are no callers to be shown. */
	function setView(name) {
		const made = name === null ? tree.all : name === callersOf ? view : callersView(name);

		callersOf = made.counts.some((counts) => counts[0] > 0) || name === null ? name : null;
		view = callersOf === null ? tree.all : made;
		focus = 0;
		countNarrow();
	}

	/* Each step can be gone back, but for those of typing. */
	function remember() {
		location.hash = fragment();
	}

	function zoomTo(i) {
		focus = i;
		draw();
		remember();
	}

	function showCallers(name) {
		setView(name);
		draw();
		remember();
		showRoot();
	}

	function toggleCallers() {
		if (callersOf !== null)
			showCallers(null);
		else
			showCallers(focus > 0 ? view.what[focus].name : '');
	}

	function search() {
		showMatches();
		location.replace(fragment());
	}

	function clearSearch() {
		field.value = '';
		search();
		field.blur();
	}

	function flip() {
		isFlipped = !isFlipped;
		draw();
		remember();
		showRoot();
	}

	/* A box without width cannot be zoomed in to. */
	function raiseFocus() {
		while (focus > 0 && view.count[focus] === 0)
			focus = view.parent[focus];
	}

	/* What is only on one side can be seen in its width only. */
	function changeSide() {
		setSide(1 - side);
		raiseFocus();
		countNarrow();
		draw();
		remember();
	}

	function changePalette() {
		palette = (palette + 1) % diff.nrPalettes;
		draw();
		remember();
	}

	function onFragment() {
		if (location.hash === fragment())
			return;
		readFragment();
		draw();
	}

	/* -- controls, made here because they need the script -- */

	function button(name, x, width, action) {
		const made = element(controls, SVG, 'g', {
			class: 'button', role: 'button', tabindex: 0,
			transform: `translate(${x},${MARGIN_PX})`,
		});

		element(made, SVG, 'rect', { width, height: 26 });
		element(made, SVG, 'text', { x: width / 2, y: 17 }).textContent = name;
		made.addEventListener('click', action);
		made.addEventListener('keydown', (event) => {
			if (event.key !== 'Enter' && event.key !== ' ')
				return;
			event.preventDefault(); /* Space would scroll as well */
			action();
		});
		return made;
	}

	function searchField() {
		const frame = element(controls, SVG, 'foreignObject',
			{ x: -546, y: MARGIN_PX, width: 210, height: 26 });
		const input = element(frame, XHTML, 'input', {
			type: 'text', placeholder: 'regular expression', 'aria-label': 'Search',
			spellcheck: 'false',
		});

		input.addEventListener('input', search);
		return input;
	}

	/* Scrolls to where the root is. */
	function showRoot() {
		(isInPage ? svg.parentElement : window).scrollTo(0, isFlipped ? 0 : svg.getAttribute('height'));
		stick();
	}

	/* The header stays in sight when the picture is scrolled. */
	function stick() {
		const above = isInPage ? svg.parentElement.scrollTop : window.scrollY;

		header.setAttribute('transform', `translate(0,${Math.max(0, above)})`);
	}

	function resize() {
		const px = Math.max(svg.clientWidth || window.innerWidth, 640);

		framesPx = px - 2 * MARGIN_PX;
		frames.setAttribute('width', framesPx);
		controls.setAttribute('transform', `translate(${px - MARGIN_PX},0)`);
		countNarrow();
		draw();
	}

	function boxOf(event) {
		return drawn.get(event.target) ?? -1;
	}

	function tellOf(event) {
		const i = boxOf(event);

		details.textContent = i < 0 ? HINT : titleOf(i).replace('\n', ' \u00b7 ');
		if (i >= 0 && !event.target.firstChild)
			element(event.target, SVG, 'title', {}).textContent = titleOf(i);
	}

	function onClick(event) {
		const i = boxOf(event);

		if (i < 0)
			return;
		if (event.shiftKey && view.depth[i] > 0)
			showCallers(view.what[i].name);
		else
			zoomTo(i);
	}

	function onKey(event) {
		if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f') {
			event.preventDefault();
			field.focus();
			field.select();
		} else if (event.key === 'Escape') {
			if (field.value)
				clearSearch();
			else if (focus > 0)
				zoomTo(0);
			else if (callersOf !== null)
				showCallers(null);
		}
	}

	const controls = element(header, SVG, 'g', { id: 'controls' });
	element(controls, SVG, 'rect', { class: 'page', x: diff ? -740 : -554, width: diff ? 740 : 554, height: 40 });
	const field = searchField();
	const searchButton = button('Search', -328, 66, () => { search(); field.focus(); });
	const resetButton = button('Reset zoom', -254, 92, () => zoomTo(0));
	const callersButton = button('Callers', -154, 80, toggleCallers);
	const flipButton = button('Flip', -66, 66, flip);
	const sideButton = diff ? button('Width: after', -658, 104, changeSide) : null;
	const paletteButton = diff ? button('Colors', -732, 66, changePalette) : null;
	const matched = element(controls, SVG, 'text', { class: 'matched', id: 'matched', y: 76 });

	searchButton.id = 'search';
	resetButton.id = 'reset';
	callersButton.id = 'callers';
	flipButton.id = 'flip';
	if (diff) {
		sideButton.id = 'side';
		paletteButton.id = 'palette';
		diff.setTotals(tree.all.counts[1][0], tree.all.counts[0][0]);
	}
	frames.replaceChildren(); /* before anything asks for their layout */
	svg.removeAttribute('viewBox');
	svg.setAttribute('width', '100%');
	frames.addEventListener('click', onClick);
	frames.addEventListener('mouseover', tellOf);
	frames.addEventListener('mouseleave', () => { details.textContent = HINT; });
	window.addEventListener('keydown', onKey);
	window.addEventListener('resize', resize);
	(isInPage ? svg.parentElement : window).addEventListener('scroll', stick);
	window.addEventListener('hashchange', onFragment);
	details.textContent = HINT;
	framesPx = window.innerWidth;
	/* Root on top if it would be out of sight at the bottom, and in a page, which begins above it. */
	const isFlippedAtFirst = isInPage || headerPx + (depthOf(visibleBoxes()) + 1) * ROW_PX > window.innerHeight;
	readFragment();
	resize();
	if (!isFlipped)
		showRoot();
})();
