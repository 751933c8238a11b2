// SPDX-License-Identifier: Apache-2.0
/* Starts a page, or says why it cannot be shown. */

export function begin(start: (root: HTMLElement) => Promise<void>) {
	const root = document.getElementById('app')!;
	void start(root).catch((error: unknown) => {
		const status = document.getElementById('status') ?? root;
		status.textContent = `This page cannot be shown: ${(error as Error).message}. ` +
			'It needs a browser of 2023 or later.';
		throw error;
	});
}
