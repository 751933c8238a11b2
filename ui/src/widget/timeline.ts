// SPDX-License-Identifier: Apache-2.0
/* The timeline: events, a chart, the axis and small tracks on one canvas. A drag selects a range,
 * with Ctrl the one to compare with; the wheel zooms; a drag on the axis moves. */
import { el, noTextDrag } from '../dom.ts';
import { clock, ticksOf } from '../model/record/axis.ts';
import type { Mark } from '../model/record/events.ts';
import { moved, scaled, whole } from '../model/record/range.ts';
import type { Range } from '../model/record/range.ts';
import { rangeOfStep, stepAt } from '../model/record/series.ts';
import { paintChart, paintTrack } from './chart_painter.ts';
import type { Chart, Track } from './chart_painter.ts';
import { AXIS_PX, CHART_PX, colorsOf, GUTTER_PX, MARKS_PX, TimeView, TRACK_PX } from './time_view.ts';
import type { Colors } from './time_view.ts';

export interface TimelineLook {
	window: Range;
	bounds: Range;
	selection: Range;
	base: Range | null;
	chart: Chart;
	tracks: Track[];
	/** How many tracks there is room for. */
	roomForTracks: number;
	marks: readonly Mark[];
}

/** What the pointer is over. */
export interface Hover {
	time: number;
	/** From 0 at the top of the chart to 1; negative: elsewhere. */
	height: number;
}

export interface TimelineEvents {
	select(range: Range): void;
	compare(range: Range): void;
	window(window: Range): void;
	hover(hover: Hover | null): void;
	/** A mark is under the pointer, or none any more. */
	mark(mark: Mark | null, x: number, y: number): void;
}

type DragKind = 'select' | 'compare' | 'move';

interface Drag {
	kind: DragKind;
	x: number;
	now: number;
	window: Range;
}

const DRAG_MIN_PX = 4;
const WHEEL_SPEED = 0.002;
const FONT = '11px system-ui, sans-serif';
const CHART_TOP = MARKS_PX;
const AXIS_TOP = MARKS_PX + CHART_PX;
const TRACKS_TOP = AXIS_TOP + AXIS_PX;
const BAND_MIN_PX = 2;

export class TimelineCanvas {
	readonly canvas: HTMLCanvasElement;
	private look: TimelineLook | null = null;
	private drag: Drag | null = null;
	private hover: { x: number; y: number } | null = null;
	private frame = 0;

	constructor(private readonly events: TimelineEvents) {
		this.canvas = el('canvas', { id: 'timeline', attributes: {
			tabindex: '0', role: 'application', 'aria-label': 'Timeline; press ? for keys',
		} });
		new ResizeObserver(() => this.paint()).observe(this.canvas);
		this.listen();
	}

	show(look: TimelineLook) {
		this.look = look;
		this.canvas.style.height = `${TRACKS_TOP + look.roomForTracks * TRACK_PX + 2}px`;
		this.repaint();
	}

	repaint() {
		this.frame ||= requestAnimationFrame(() => this.paint());
	}

	/** The width of what has times. */
	get px(): number {
		return new TimeView({ from: 0, to: 1 }, this.canvas.clientWidth).px;
	}

	private view(look: TimelineLook): TimeView {
		return new TimeView(look.window, this.canvas.clientWidth);
	}

	private paint() {
		cancelAnimationFrame(this.frame);
		this.frame = 0;
		const { clientWidth, clientHeight } = this.canvas;
		const { look } = this;
		if (!look || !clientWidth)
			return;
		const ratio = window.devicePixelRatio;
		this.canvas.width = clientWidth * ratio;
		this.canvas.height = clientHeight * ratio;
		const context = this.canvas.getContext('2d')!;
		const colors = colorsOf();
		const view = this.view(look);
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.font = FONT;
		context.textBaseline = 'middle';
		this.paintBands(context, view, look, colors, true);
		paintChart(context, { view, top: CHART_TOP, height: CHART_PX }, look.chart, colors);
		this.paintAxis(context, view, colors);
		look.tracks.forEach((track, i) => {
			const at = this.hover ? stepAt(track.timeline, view.timeOf(this.hover.x)) : -1;
			paintTrack(context, { view, top: TRACKS_TOP + i * TRACK_PX, height: TRACK_PX }, track, at, colors);
		});
		this.paintMarks(context, view, look.marks, colors);
		this.paintBands(context, view, look, colors, false);
		if (this.hover && !this.drag)
			this.paintCursor(context, view, this.hover.x, colors);
	}

	private paintAxis(context: CanvasRenderingContext2D, view: TimeView, colors: Colors) {
		context.textAlign = 'center';
		for (const { time, text } of ticksOf(view.window, view.px)) {
			const x = Math.round(view.xOf(time)) + 0.5;
			const half = context.measureText(text).width / 2;
			context.strokeStyle = colors.line;
			context.beginPath();
			context.moveTo(x, AXIS_TOP);
			context.lineTo(x, AXIS_TOP + 4);
			context.stroke();
			context.fillStyle = colors.dim;
			if (x - half > 2 && x + half < view.width - 2)
				context.fillText(text, x, AXIS_TOP + 12);
		}
	}

	/* Each event is a bar with as much of its text as there is room for; one that the selector leaves
	 * out is a grey line. */
	private paintMarks(context: CanvasRenderingContext2D, view: TimeView, marks: readonly Mark[], colors: Colors) {
		const all = marks.filter(({ from, to }) => to > view.window.from && from < view.window.to);
		const seen = all.filter(({ kind }) => kind !== 'other');
		context.fillStyle = colors.dim;
		context.globalAlpha = 0.45;
		for (const mark of all.filter(({ kind }) => kind === 'other')) {
			const { x, end } = barOf(view, mark);
			context.fillRect(x, MARKS_PX - 4, end - x, 2);
		}
		context.globalAlpha = 1;
		context.textAlign = 'left';
		seen.forEach((mark, i) => {
			const { x, end } = barOf(view, mark);
			const next = seen[i + 1];
			const room = Math.min(next ? view.xOf(next.from) : Infinity, GUTTER_PX + view.px) - x;
			context.fillStyle = colors.mark;
			context.globalAlpha = 0.35;
			context.fillRect(x, 3, end - x, MARKS_PX - 6);
			context.globalAlpha = 1;
			context.fillRect(x, 3, 3, MARKS_PX - 6);
			if (room < 40)
				return;
			context.save();
			context.beginPath();
			context.rect(x, 0, room - 6, MARKS_PX);
			context.clip();
			context.fillStyle = colors.text;
			context.fillText(mark.text, x + 6, MARKS_PX / 2);
			context.restore();
		});
	}

	/* What is selected: a colour below the charts, and the edges above them. */
	private paintBands(context: CanvasRenderingContext2D, view: TimeView, look: TimelineLook, colors: Colors,
		isBelow: boolean) {
		const dragged = this.dragged();
		const isCompare = this.drag?.kind === 'compare';
		const base = isCompare ? dragged : look.base;
		const selection = dragged && !isCompare ? dragged : look.selection;
		if (base)
			this.paintBand(context, view, base, colors.base, isBelow);
		this.paintBand(context, view, selection, colors.accent, isBelow);
	}

	private paintBand(context: CanvasRenderingContext2D, view: TimeView, range: Range, color: string,
		isBelow: boolean) {
		const left = Math.max(view.xOf(range.from), GUTTER_PX);
		const right = Math.min(Math.max(view.xOf(range.to), view.xOf(range.from) + BAND_MIN_PX), GUTTER_PX + view.px);
		if (right < GUTTER_PX || left > GUTTER_PX + view.px || right <= left)
			return;
		const bottom = this.canvas.clientHeight - 1;
		context.fillStyle = color;
		if (isBelow) {
			context.globalAlpha = 0.2;
			context.fillRect(left, MARKS_PX, right - left, bottom - MARKS_PX);
			context.globalAlpha = 1;
			return;
		}
		context.fillRect(Math.round(left), MARKS_PX, 1, bottom - MARKS_PX);
		context.fillRect(Math.round(right) - 1, MARKS_PX, 1, bottom - MARKS_PX);
		context.fillRect(left, AXIS_TOP, right - left, 3);
	}

	private paintCursor(context: CanvasRenderingContext2D, view: TimeView, x: number, colors: Colors) {
		const text = clock(view.timeOf(x));
		const width = context.measureText(text).width + 10;
		const left = Math.min(Math.max(x - width / 2, GUTTER_PX), GUTTER_PX + view.px - width);
		context.strokeStyle = colors.dim;
		context.setLineDash([3, 3]);
		context.beginPath();
		context.moveTo(Math.round(x) + 0.5, MARKS_PX);
		context.lineTo(Math.round(x) + 0.5, this.canvas.clientHeight);
		context.stroke();
		context.setLineDash([]);
		context.fillStyle = colors.text;
		context.fillRect(left, AXIS_TOP + 4, width, AXIS_PX - 5);
		context.fillStyle = colors.panel;
		context.textAlign = 'center';
		context.fillText(text, left + width / 2, AXIS_TOP + 12);
	}

	/* -- the pointer -- */

	/* The range of a drag. Both ends are seconds. */
	private dragged(): Range | null {
		const { drag, look } = this;
		if (!drag || !look || drag.kind === 'move' || Math.abs(drag.now - drag.x) < DRAG_MIN_PX)
			return null;
		const view = this.view(look);
		return whole(view.timeOf(drag.x), view.timeOf(drag.now));
	}

	private listen() {
		const { canvas } = this;
		const place = (event: MouseEvent) => {
			const frame = canvas.getBoundingClientRect();
			return { x: event.clientX - frame.left, y: event.clientY - frame.top };
		};
		canvas.onpointerdown = (event) => {
			const { x, y } = place(event);
			if (event.button !== 0 || !this.look)
				return;
			const isAxis = y >= AXIS_TOP && y < TRACKS_TOP;
			const kind = isAxis ? 'move' : event.ctrlKey || event.metaKey ? 'compare' : 'select';
			this.drag = { kind, x, now: x, window: this.look.window };
			canvas.setPointerCapture(event.pointerId);
		};
		noTextDrag(canvas);
		canvas.onpointermove = (event) => this.onMove(place(event), event);
		canvas.onpointerup = (event) => this.onUp(place(event));
		canvas.onpointercancel = () => (this.drag = null);
		canvas.onpointerleave = () => {
			this.hover = null;
			this.events.hover(null);
			this.events.mark(null, 0, 0);
			this.repaint();
		};
		canvas.oncontextmenu = (event) => event.ctrlKey && event.preventDefault();
		canvas.addEventListener('wheel', (event) => this.onWheel(event, place(event).x), { passive: false });
	}

	private onMove({ x, y }: { x: number; y: number }, event: PointerEvent) {
		const { drag, look } = this;
		if (!look)
			return;
		const view = this.view(look);
		this.hover = x >= GUTTER_PX && x <= GUTTER_PX + view.px ? { x, y } : null;
		if (drag)
			drag.now = x;
		if (drag?.kind === 'move')
			this.events.window(moved(drag.window, (drag.x - x) / view.px, look.bounds));
		canvasCursor(this.canvas, y);
		this.events.mark(drag ? null : this.markAt(x, y, view, look), event.clientX, event.clientY);
		this.events.hover(this.hover && { time: view.timeOf(x), height: (y - CHART_TOP) / CHART_PX });
		this.repaint();
	}

	private markAt(x: number, y: number, view: TimeView, look: TimelineLook): Mark | null {
		if (y > MARKS_PX)
			return null;
		const near = look.marks.filter(({ from, to }) =>
			x >= view.xOf(from) - 3 && x <= Math.max(view.xOf(to), view.xOf(from) + 3) + 3);
		return near.filter(({ kind }) => kind !== 'other').at(-1) ?? near.at(-1) ?? null;
	}

	private onUp({ x, y }: { x: number; y: number }) {
		const { drag, look } = this;
		const range = this.dragged();
		this.drag = null;
		if (!drag || !look || drag.kind === 'move')
			return;
		const view = this.view(look);
		const clicked = range ?? this.markAt(x, y, view, look) ?? this.stepUnder(x, view, look);
		if (clicked && drag.kind === 'compare')
			this.events.compare({ from: clicked.from, to: clicked.to });
		else if (clicked)
			this.events.select({ from: clicked.from, to: clicked.to });
		this.repaint();
	}

	private stepUnder(x: number, view: TimeView, { chart, bounds }: TimelineLook): Range | null {
		const at = stepAt(chart.timeline, view.timeOf(x));
		if (at < 0 || x < GUTTER_PX)
			return null;
		const { from, to } = rangeOfStep(chart.timeline, at);
		return whole(Math.max(from, bounds.from), Math.min(to, bounds.to));
	}

	private onWheel(event: WheelEvent, x: number) {
		const { look } = this;
		if (!look)
			return;
		event.preventDefault();
		const view = this.view(look);
		const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
		this.events.window(isSideways
			? moved(look.window, (event.deltaX || event.deltaY) / view.px, look.bounds)
			: scaled(look.window, Math.exp(event.deltaY * WHEEL_SPEED), view.shareOf(x), look.bounds));
	}
}

function barOf(view: TimeView, mark: Mark): { x: number; end: number } {
	const x = Math.max(view.xOf(mark.from), GUTTER_PX);
	return { x, end: Math.max(Math.min(view.xOf(mark.to), GUTTER_PX + view.px), x + 3) };
}

function canvasCursor(canvas: HTMLCanvasElement, y: number) {
	canvas.style.cursor = y < MARKS_PX ? 'pointer' : y >= AXIS_TOP && y < TRACKS_TOP ? 'ew-resize' : 'crosshair';
}
