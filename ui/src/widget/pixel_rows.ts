// SPDX-License-Identifier: Apache-2.0
/* Boxes as pixels. A row of boxes is one line of pixels, which the canvas makes as high as the row is:
 * thousands of boxes are drawn much faster than as rectangles of a canvas. */
import { el } from '../dom.ts';
import type { Color } from '../model/colors.ts';

/* A pixel has its red part in the first of four bytes; all computers with browsers are little-endian. */
function pixelOf(color: Color, alpha: number): number {
	const opacity = Math.round(255 * alpha);
	return ((opacity << 24) | ((color & 0xff) << 16) | (color & 0xff00) | (color >> 16)) >>> 0;
}

export class PixelRows {
	private readonly canvas = el('canvas');
	private image = new ImageData(1, 1);
	private pixels = new Uint32Array(1);

	/** Begins without boxes. Both are 1 or more. */
	clear(width: number, nrRows: number) {
		if (this.image.width === width && this.image.height === nrRows) {
			this.pixels.fill(0);
			return;
		}
		this.canvas.width = width;
		this.canvas.height = nrRows;
		this.image = new ImageData(width, nrRows);
		this.pixels = new Uint32Array(this.image.data.buffer);
	}

	/** Fills the pixels of a row from `left` to `right`, which are rounded, but one at least. */
	fill(row: number, left: number, right: number, color: Color, alpha = 1) {
		const { width } = this.image;
		const from = Math.max(Math.round(left), 0);
		const to = Math.min(Math.max(Math.round(right), from + 1), width);
		if (from < to)
			this.pixels.fill(pixelOf(color, alpha), row * width + from, row * width + to);
	}

	/** A line of pixels for each row. */
	get picture(): HTMLCanvasElement {
		this.canvas.getContext('2d')!.putImageData(this.image, 0, 0);
		return this.canvas;
	}
}
