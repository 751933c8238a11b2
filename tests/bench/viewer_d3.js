// SPDX-License-Identifier: Apache-2.0
/* The page that shows a profile with d3-flame-graph, as its README says, without animations. */
import { select } from 'd3-selection';
import flamegraph from 'd3-flame-graph';

const parameters = new URLSearchParams(location.search);
const chart = flamegraph().width(innerWidth).transitionDuration(0)
	.minFrameSize(Number(parameters.get('min')));

document.querySelector('#search').oninput = (event) => chart.search(event.target.value);
select('#chart').datum(await (await fetch(parameters.get('profile'))).json()).call(chart);
