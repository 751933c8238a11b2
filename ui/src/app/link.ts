// SPDX-License-Identifier: Apache-2.0
/* The fragment of the URL, which holds what is shown. The page of a record has a part of it, and
 * the viewer the rest. A step of the user's is an entry of the browser's history. */

export class Link {
	/** The fragment was changed from outside, as by the browser's "back". */
	onChange: () => void = () => undefined;
	private written = location.hash || '#';
	private page = '';
	private view = '';

	/** `pageNames`: the parameters of the page's part. */
	constructor(private readonly pageNames: ReadonlySet<string> = new Set()) {
		this.split();
		window.addEventListener('hashchange', () => {
			const fragment = location.hash || '#';
			if (fragment === this.written)
				return;
			this.written = fragment;
			this.split();
			this.onChange();
		});
	}

	get fragment(): string {
		return [this.page, this.view].filter(Boolean).join('&');
	}

	get viewFragment(): string {
		return this.view;
	}

	writePage(text: string, isStep: boolean) {
		this.page = text;
		this.write(isStep);
	}

	writeView(text: string, isStep: boolean) {
		this.view = text;
		this.write(isStep);
	}

	/** Leaves out a parameter of the viewer's, with the next writing. */
	dropFromView(name: string) {
		const parameters = new URLSearchParams(this.view);
		parameters.delete(name);
		this.view = parameters.toString();
	}

	private split() {
		const page = new URLSearchParams();
		const view = new URLSearchParams();
		for (const [name, value] of new URLSearchParams(location.hash.replace(/^#/, '')))
			(this.pageNames.has(name) ? page : view).append(name, value);
		this.page = page.toString();
		this.view = view.toString();
	}

	private write(isStep: boolean) {
		const fragment = `#${this.fragment}`;
		if (fragment === this.written)
			return;
		this.written = fragment;
		if (isStep)
			location.hash = fragment;
		else
			location.replace(fragment);
	}
}
