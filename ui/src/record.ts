// SPDX-License-Identifier: Apache-2.0
/* The page of a record, which asks its server for data. It has the viewer in it, whose pages do not
 * have it. */
import { begin } from './begin.ts';
import { Page } from './page/page.ts';

begin(async (root) => {
	const api = document.querySelector<HTMLMetaElement>('meta[name="flamelet-api"]')!;
	await new Page(api.content, root).start();
});
