"use strict";
/* Flame graphs: a click zooms into a node, and a search marks names. Everything is read from the picture itself. */
(function () {
	const ns = "http://www.w3.org/2000/svg", all = 1e6;

	function setUp(flame) {
		const nodes = Array.from(flame.querySelectorAll("svg.fl")).map(svg => ({
			svg: svg,
			x: Number(svg.getAttribute("data-x")),
			w: Number(svg.getAttribute("data-w")),
			y: Number(svg.getAttribute("y")),
			title: svg.querySelector("title").textContent,
		}));
		const controls = flame.querySelector("g.controls");

		function zoom(to) {
			for (const n of nodes) {
				const isAbove = n.y < to.y && n.x <= to.x && n.x + n.w >= to.x + to.w;
				const isIn = n.y >= to.y && n.x >= to.x && n.x + n.w <= to.x + to.w;
				n.svg.classList.toggle("above", isAbove);
				n.svg.style.display = isAbove || isIn ? "" : "none";
				n.svg.setAttribute("x", isAbove ? "0" : 100 * (n.x - to.x) / to.w + "%");
				n.svg.setAttribute("width", isAbove ? "100%" : 100 * n.w / to.w + "%");
				label(n, isAbove ? 1 : n.w / to.w);
			}
		}

		/* Nodes too narrow for a label at first have none. */
		function label(n, share) {
			if (share < 0.004 || n.svg.querySelector("text"))
				return;
			const text = document.createElementNS(ns, "text");
			text.setAttribute("x", "3");
			text.setAttribute("y", "13");
			text.textContent = n.title.split("\n")[0];
			n.svg.appendChild(text);
		}

		/* The time of nodes found, each moment once: a node inside a found one does not count again. */
		function search(word) {
			const found = [];
			for (const n of nodes) {
				const isFound = word && n.title.toLowerCase().includes(word.toLowerCase());
				n.svg.classList.toggle("found", isFound);
				if (isFound && !found.some(o => n.y > o.y && n.x >= o.x && n.x + n.w <= o.x + o.w))
					found.push(n);
			}
			const sum = found.reduce((a, n) => a + n.w, 0);
			result.textContent = word ? "\"" + word + "\": " + (100 * sum / all).toFixed(1) + " %" : "";
		}

		function control(x, text, act) {
			const e = document.createElementNS(ns, "text");
			e.setAttribute("x", x);
			e.setAttribute("y", String(nodes[0].y - 7));
			e.textContent = text;
			if (act) {
				e.classList.add("button");
				e.setAttribute("tabindex", "0");
				e.setAttribute("role", "button");
				e.addEventListener("click", act);
				e.addEventListener("keydown", event => {
					if (event.key === "Enter")
						act();
				});
			}
			controls.appendChild(e);
			return e;
		}

		control("4", "reset zoom", () => zoom(nodes[0]));
		control("90", "search", () => {
			const word = window.prompt("Part of a function, file or cause:", "");
			if (word !== null)
				search(word);
		});
		const result = control("150", "", null);
		for (const n of nodes)
			n.svg.addEventListener("click", () => zoom(n));
	}

	/* Alone in a window. */
	if (document.documentElement.classList.contains("picture"))
		document.documentElement.setAttribute("width", "100%");
	for (const flame of document.querySelectorAll("svg.flame"))
		if (flame.querySelector("svg.fl"))
			setUp(flame);
})();
