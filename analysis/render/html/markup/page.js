"use strict";
/* What the page can do beyond being read: sort and filter tables, select blocks, zoom into time. It reads all numbers from the
 * page itself, and writes text only as text. */
(function () {
	const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
	const svgNS = "http://www.w3.org/2000/svg";

	function element(name, text, parent, attributes) {
		const e = document.createElement(name);
		if (text !== undefined && text !== null)
			e.textContent = text;
		for (const key in attributes || {})
			e.setAttribute(key, attributes[key]);
		if (parent)
			parent.appendChild(e);
		return e;
	}

	/* Three digits and the unit that fits, as everywhere on the page. */
	function duration(ns) {
		const units = [[1e9, " s"], [1e6, " ms"], [1e3, " us"], [1, " ns"]];
		const size = Math.abs(ns);
		for (const [unit, name] of units)
			if (size >= unit || unit === 1) {
				const value = ns / unit, whole = Math.abs(value);
				return (unit === 1 ? Math.round(value) : value.toFixed(whole < 10 ? 2 : whole < 100 ? 1 : 0)) + name;
			}
	}

	/* ---- tables ---- */

	function valueOf(row, column) {
		const cell = row.cells[column];
		const exact = cell.getAttribute("data-v");
		return exact !== null ? Number(exact) : cell.textContent === "-" ? null : cell.textContent;
	}

	function compare(a, b) {
		if (a === null || b === null)
			return (a === null) - (b === null);
		if (typeof a === "number" && typeof b === "number")
			return a - b;
		return String(a).localeCompare(String(b), "en", {numeric: true});
	}

	function sortBy(table, head) {
		const column = head.cellIndex, body = table.tBodies[0];
		const wasDown = head.getAttribute("aria-sort") === "descending";
		const isText = head.classList.contains("t") && !head.getAttribute("aria-sort");
		const up = wasDown || isText;
		const rows = Array.from(body.rows).map((row, i) => ({row: row, i: i, value: valueOf(row, column)}));
		rows.sort((a, b) => {
			const order = compare(a.value, b.value);
			/* What is not known comes last in both directions. */
			if (a.value === null || b.value === null)
				return order || a.i - b.i;
			return (up ? order : -order) || a.i - b.i;
		});
		for (const r of rows)
			body.appendChild(r.row);
		for (const other of table.tHead.rows[0].cells)
			other.removeAttribute("aria-sort");
		head.setAttribute("aria-sort", up ? "ascending" : "descending");
	}

	function makeSortable(table) {
		for (const head of table.tHead.rows[0].cells) {
			head.classList.add("sortable");
			head.tabIndex = 0;
			head.addEventListener("click", () => sortBy(table, head));
			head.addEventListener("keydown", e => {
				if (e.key === "Enter")
					sortBy(table, head);
			});
		}
	}

	function makeFilter(table) {
		const title = table.closest(".table").querySelector("h3");
		if (!title || table.tBodies[0].rows.length < 6)
			return;
		const input = element("input", null, title,
			{type: "search", "class": "filter", placeholder: "filter rows", "aria-label": "filter rows"});
		input.addEventListener("input", () => {
			const words = input.value.toLowerCase().split(/\s+/);
			for (const row of table.tBodies[0].rows) {
				const text = row.textContent.toLowerCase();
				row.hidden = !words.every(word => text.includes(word));
			}
		});
	}

	for (const table of all("table[data-path]")) {
		makeSortable(table);
		makeFilter(table);
	}

	/* A link to a row opens what hides it. */
	function reveal() {
		let target = null;
		try {
			target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
		} catch (e) {
			return;
		}
		for (let e = target; e; e = e.parentElement) {
			if (e.tagName === "DETAILS")
				e.open = true;
			e.hidden = false;
		}
		if (target && target.tagName === "SECTION")
			for (const rows of target.querySelectorAll("details.rows"))
				rows.open = true;
		if (target)
			target.scrollIntoView();
	}
	window.addEventListener("hashchange", reveal);
	if (location.hash)
		reveal();
	window.addEventListener("beforeprint", () => {
		all("details.rows").forEach(d => { d.open = true; });
		all("#blocks details").forEach(d => { d.open = false; });
	});

	/* ---- blocks ---- */

	function blockChart(chart) {
		const bars = all("g.bar", chart), detail = document.getElementById("block-detail");
		const names = chart.dataset.names.split("|");
		const parts = bars.map(bar => bar.dataset.parts.split(" ").map(Number));
		const measured = parts.filter((p, i) => !bars[i].classList.contains("warm"));
		const mean = names.map((n, k) => measured.reduce((sum, p) => sum + p[k], 0) / (measured.length || 1));
		let chosen = -1;

		function show(at) {
			const bar = bars[at];
			detail.textContent = "";
			element("b", bar.querySelector("title").textContent.split("\n")[0], detail);
			const table = element("table", null, detail), head = element("tr", null, element("thead", null, table));
			for (const text of ["part", "time", "compared with the mean"])
				element("th", text, head, {"class": text === "part" ? "t" : "n"});
			const body = element("tbody", null, table);
			names.forEach((name, k) => {
				const row = element("tr", null, body), delta = parts[at][k] - mean[k];
				element("td", name, row, {"class": "t"});
				element("td", duration(parts[at][k]), row, {"class": "n"});
				element("td", (delta > 0 ? "+" : "") + duration(delta), row, {"class": "n"});
			});
		}

		function choose(at) {
			bars.forEach((bar, i) => bar.classList.toggle("chosen", i === at));
			chosen = at;
			if (at < 0)
				detail.textContent = "";
			else
				show(at);
		}

		bars.forEach((bar, at) => {
			bar.addEventListener("mouseenter", () => show(at));
			bar.addEventListener("mouseleave", () => choose(chosen));
			bar.addEventListener("click", () => choose(chosen === at ? -1 : at));
			bar.addEventListener("focus", () => show(at));
			bar.addEventListener("keydown", e => {
				const to = e.key === "ArrowRight" ? at + 1 : e.key === "ArrowLeft" ? at - 1 : e.key === "Enter" ? at : -1;
				if (to >= 0 && to < bars.length) {
					bars[to].focus();
					choose(to);
					e.preventDefault();
				}
			});
		});
	}
	const chart = document.getElementById("block-chart");
	if (chart)
		blockChart(chart);

	/* ---- time ---- */

	/* The cumulated heights of a path of columns, from "M0 200V180h3V20h1...z". */
	function heightsOf(path, full) {
		const heights = [];
		let y = full;
		for (const [, command, number] of path.getAttribute("d").matchAll(/([Vh])(\d+)/g)) {
			if (command === "V")
				y = Number(number);
			else
				for (let i = Number(number); i > 0; i--)
					heights.push(full - y);
		}
		return heights;
	}

	function timeline(root) {
		const main = root.querySelector(".main"), detail = document.getElementById("timeline-detail");
		const length = Number(root.dataset.ns), full = Number(root.dataset.full);
		const times = root.querySelector(".times"), zoomed = all("svg.zoom");
		const height = Number(main.getAttribute("height"));
		const strips = all("svg.strip", root).map(strip => {
			/* The highest path comes first. */
			const paths = all("path", strip).map(path => ({name: path.dataset.name, heights: heightsOf(path, full)}));
			return {label: strip.dataset.label, width: Number(strip.dataset.width), paths: paths};
		});
		const lanes = all("svg.lane", root).map(lane => ({
			label: lane.dataset.label,
			spans: all("rect", lane).map(r => [Number(r.getAttribute("x")), Number(r.getAttribute("width"))])
		}));
		const flags = all("[data-at]", root);
		let from = 0, to = 1; /* shares of the window */

		function svg(name, attributes) {
			const e = document.createElementNS(svgNS, name);
			for (const key in attributes)
				e.setAttribute(key, attributes[key]);
			return e;
		}

		function drawTimes() {
			const span = (to - from) * length, bottom = height - 22;
			let step = 1;
			for (let i = 0; span / step > 8; i++)
				step = [1, 2, 5][(i + 1) % 3] * Math.pow(10, Math.floor((i + 1) / 3));
			times.textContent = "";
			for (let at = Math.ceil(from * length / step) * step; at <= to * length; at += step) {
				const x = (at - from * length) / span * 100 + "%";
				const near = (at - from * length) / span;
				times.appendChild(svg("line", {"class": "grid", x1: x, x2: x, y1: 0, y2: bottom}));
				const text = svg("text", {"class": near < .03 ? "start" : near > .95 ? "end" : "middle", x: x, y: bottom + 15});
				text.textContent = duration(at);
				times.appendChild(text);
			}
		}

		function zoom(a, b) {
			from = Math.max(0, Math.min(a, b));
			to = Math.min(1, Math.max(a, b));
			if (to - from < 1e-6)
				to = Math.min(1, from + 1e-6);
			for (const e of zoomed) {
				const width = Number(e.dataset.width), box = e.getAttribute("viewBox").split(" ");
				e.setAttribute("viewBox", [from * width, 0, (to - from) * width, box[3]].join(" "));
			}
			for (const e of flags) {
				const x = (Number(e.dataset.at) / 1e6 - from) / (to - from) * 100;
				e.setAttribute("visibility", x < 0 || x > 100 ? "hidden" : "visible");
				for (const name of e.tagName === "line" ? ["x1", "x2"] : ["x"])
					e.setAttribute(name, x + "%");
			}
			drawTimes();
			root.dataset.from = from;
			root.dataset.to = to;
			back.hidden = from === 0 && to === 1;
			tell("");
		}

		const bar = element("div", null, null, {"class": "tools"});
		detail.appendChild(bar);
		const back = element("button", "whole window", bar, {type: "button"}), words = element("span", "", bar);
		back.addEventListener("click", () => zoom(0, 1));

		function tell(text) {
			words.textContent = text || (from > 0 || to < 1
				? duration(from * length) + " to " + duration(to * length) + ". Double click or Escape: the whole window."
				: "Drag to zoom; hover to read the shares.");
		}

		function at(event) {
			const box = main.getBoundingClientRect();
			return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
		}

		function describe(share) {
			const where = from + share * (to - from), found = [];
			for (const lane of lanes)
				for (const [x, width] of lane.spans)
					if (where * 1e6 >= x && where * 1e6 < x + width)
						found.push(lane.label + " " + duration(width / 1e6 * length));
			for (const strip of strips) {
				const column = Math.floor(where * strip.width), parts = [];
				strip.paths.forEach((path, i) => {
					const below = i + 1 < strip.paths.length ? strip.paths[i + 1].heights[column] || 0 : 0;
					const share = ((path.heights[column] || 0) - below) / full * 100;
					if (share >= .5)
						parts.unshift(path.name + " " + share.toFixed(0) + " %");
				});
				found.push(strip.label + ": " + (parts.join(", ") || "nothing recorded"));
			}
			tell("at " + duration(where * length) + " | " + found.join(" | "));
		}

		const cursor = svg("line", {"class": "cursor", y1: 0, y2: height - 22, visibility: "hidden", "pointer-events": "none"});
		const select = svg("rect", {"class": "select", y: 0, height: height - 22, visibility: "hidden", "pointer-events": "none"});
		main.appendChild(cursor);
		main.appendChild(select);
		let begun = null;
		main.addEventListener("pointerdown", e => {
			if (e.button || e.target.closest("a"))
				return;
			begun = at(e);
			main.setPointerCapture(e.pointerId);
		});
		main.addEventListener("pointermove", e => {
			const x = at(e);
			cursor.setAttribute("x1", x * 100 + "%");
			cursor.setAttribute("x2", x * 100 + "%");
			cursor.setAttribute("visibility", "visible");
			if (begun !== null) {
				select.setAttribute("x", Math.min(x, begun) * 100 + "%");
				select.setAttribute("width", Math.abs(x - begun) * 100 + "%");
				select.setAttribute("visibility", "visible");
			}
			describe(x);
		});
		main.addEventListener("pointerup", e => {
			const x = at(e), began = begun;
			begun = null;
			select.setAttribute("visibility", "hidden");
			if (began !== null && Math.abs(x - began) > .005)
				zoom(from + Math.min(x, began) * (to - from), from + Math.max(x, began) * (to - from));
		});
		main.addEventListener("pointerleave", () => {
			cursor.setAttribute("visibility", "hidden");
			if (begun === null)
				tell("");
		});
		main.addEventListener("dblclick", () => zoom(0, 1));
		document.addEventListener("keydown", e => {
			if (e.key === "Escape")
				zoom(0, 1);
		});
		back.hidden = true;
		tell("");
	}
	const overview = document.getElementById("timeline");
	if (overview)
		timeline(overview);
}());
