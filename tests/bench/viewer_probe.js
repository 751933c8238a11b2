// SPDX-License-Identifier: Apache-2.0
/* Measures in a page, whose own code it does not know, how long it takes until the page has shown what an event asked
 * for: until the end of the first frame that is followed by three frames without a delay. Times are in milliseconds. */
(() => {
	const SMOOTH_MS = 100;
	const SMOOTH_FRAMES = 3;
	const probe = { result: null, frames: [] };

	/* Calls back when the frame at hand was drawn. */
	function afterFrame(then) {
		requestAnimationFrame(() => {
			const channel = new MessageChannel();
			channel.port1.onmessage = () => then(performance.now());
			channel.port2.postMessage(null);
		});
	}

	function settle(start) {
		let shown = 0;
		let last = 0;
		let nrSmooth = 0;
		const frame = (now) => {
			if (shown > 0 && now - last < SMOOTH_MS) {
				nrSmooth++;
			} else {
				shown = now;
				nrSmooth = 0;
			}
			last = now;
			if (nrSmooth === SMOOTH_FRAMES)
				probe.result = shown - start;
			else
				afterFrame(frame);
		};
		afterFrame(frame);
	}

	/** From the beginning of the navigation on, once the page says that it is ready. */
	probe.open = (isReady) => {
		const look = () => (isReady() ? settle(0) : requestAnimationFrame(look));
		probe.result = null;
		look();
	};

	/** From the next event of that type on. */
	probe.arm = (type) => {
		probe.result = null;
		window.addEventListener(type, (event) => settle(event.timeStamp), { capture: true, once: true });
	};

	/** Counts frames until stop(), which returns the number per second. */
	probe.count = () => {
		const count = (now) => {
			probe.frames.push(now);
			if (probe.counts)
				requestAnimationFrame(count);
		};
		probe.frames = [];
		probe.counts = true;
		requestAnimationFrame(count);
	};
	probe.stop = () => {
		const { frames } = probe;
		probe.counts = false;
		return (1000 * (frames.length - 1)) / (frames[frames.length - 1] - frames[0]);
	};
	window.benchProbe = probe;
})();
