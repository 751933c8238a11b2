// SPDX-License-Identifier: Apache-2.0
/* Draws boxes of equal color together, and texts after them: to change the style of a canvas takes
 * longer than to fill a box, and neighbours differ in color. */

/** By opacity and color. */
type Styles<T> = Map<number, Map<string, T[]>>;

interface Text {
	text: string;
	x: number;
	y: number;
}

function listOf<T>(styles: Styles<T>, alpha: number, color: string): T[] {
	let colors = styles.get(alpha);
	if (!colors)
		styles.set(alpha, colors = new Map<string, T[]>());
	let list = colors.get(color);
	if (!list)
		colors.set(color, list = []);
	return list;
}

function drawAll<T>(context: CanvasRenderingContext2D, styles: Styles<T>, draw: (list: T[]) => void) {
	for (const [alpha, colors] of styles) {
		context.globalAlpha = alpha;
		for (const [color, list] of colors) {
			context.fillStyle = color;
			draw(list);
		}
	}
	context.globalAlpha = 1;
}

export class Batch {
	/* Left, top and width of each box. */
	private readonly boxes: Styles<number> = new Map();
	private readonly texts: Styles<Text> = new Map();

	/** All boxes are equally high. */
	constructor(private readonly height: number) {}

	box(alpha: number, color: string, x: number, y: number, width: number) {
		listOf(this.boxes, alpha, color).push(x, y, width);
	}

	text(alpha: number, color: string, text: string, x: number, y: number) {
		listOf(this.texts, alpha, color).push({ text, x, y });
	}

	draw(context: CanvasRenderingContext2D) {
		drawAll(context, this.boxes, (list) => {
			for (let i = 0; i < list.length; i += 3)
				context.fillRect(list[i]!, list[i + 1]!, list[i + 2]!, this.height);
		});
		drawAll(context, this.texts, (list) => {
			for (const { text, x, y } of list)
				context.fillText(text, x, y);
		});
	}
}
