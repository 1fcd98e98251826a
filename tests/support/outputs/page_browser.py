#!/usr/bin/env python3
"""page_browser.py PAGE...: opens pages in a headless Chromium: no message, no request, nothing wider than the window, what to fix
first on the first screen, links that land where they can be seen, tables that sort and filter, blocks that can be selected, a
timeline that zooms; in both themes, on small and large windows, without scripts. A flame graph (.svg) fits its window. Exit
status 77: there is no Chromium."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, find  # noqa: E402

errors = []


def check(holds, what):
    if not holds:
        errors.append(what)


def check_quiet(page, url, what):
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    own = [event for event in page.events if event != ("request", url)]
    check(not own, f"{what}: {own[:3]}")


def check_layout(browser, url):
    for width in (400, 1000, 1600):
        for dark in (False, True):
            page = browser.open(url, width=width, dark=dark)
            found = page.evaluate("document.documentElement.scrollWidth")
            check(found <= width, f"{url} is {found} wide in a window of {width}")
            wide = page.evaluate("""Array.from(document.querySelectorAll('.scroll > .fall'))
                .filter(t => t.offsetWidth > t.parentElement.clientWidth).map(t => t.offsetWidth)""")
            check(not wide, f"{url}: bars {wide} wide in a window of {width}")
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            check((ground == "rgb(255, 255, 255)") != dark, f"{url}: {ground} in the {'dark' if dark else 'light'} theme")
            check_quiet(page, url, f"{width} wide")
            page.close()
    page = browser.open(url, scripts=False)
    check(not [e for e in page.events if e != ("request", url)], f"without scripts: {page.events[:3]}")
    page.close()


def check_picture(browser, url):
    """A picture alone is as wide as its window, with scripts; without them no wider."""
    for width in (400, 1000, 1600):
        for scripts in (True, False):
            page = browser.open(url, width=width, scripts=scripts)
            found = page.evaluate("document.documentElement.getBoundingClientRect().width") if scripts else None
            check(found in (width, None), f"{url} is {found} wide in a window of {width}")
            size = page.call("Page.getLayoutMetrics")["cssContentSize"]["width"]
            check(size <= width, f"{url} without scripts is {size} wide in a window of {width}")
            page.close()


def check_first_screen(browser, url):
    """A picture of 1000 by 800 pixels says what to fix first, whole, below the cause. A page without fixes has none."""
    page = browser.open(url, width=1000, height=800)
    top = page.evaluate("(e => e ? e.getBoundingClientRect().top + scrollY : 0)(document.getElementById('more'))")
    check(top <= 5000, f"{url}: everything else begins at {top}")
    found = page.evaluate("""(() => {
        const box = e => e && [e.getBoundingClientRect().top, e.getBoundingClientRect().bottom];
        return [document.querySelectorAll('#fix-first .card').length, box(document.getElementById('fix-top')),
            box(document.querySelector('dd.w-cause') || document.querySelector('dd.w-result')),
            Array.from(document.querySelectorAll('#fix-top .fix a'), a => a.textContent),
            Array.from(document.querySelectorAll('#fix-first .card h3'), h => h.textContent.replace(/^\\d+ /, ''))]; })()""")
    cards, top, cause, first, titles = found
    if cards:
        check(top and top[1] <= 800, f"{url}: what to fix first is at {top}, below the first screen")
        check(top and cause and top[0] >= cause[1], f"{url}: what to fix first is at {top}, not below the cause at {cause}")
        check(first == titles[:3], f"{url}: the first screen has {first}, the list {titles}")
    page.close()


def check_links(page):
    """Each link's target can be seen after a click, and so can what holds it."""
    dark = page.evaluate("""(async () => {
        const bad = [];
        for (const link of document.querySelectorAll('a[href^="#"]')) {
            document.querySelectorAll('details').forEach(d => { d.open = false; });
            location.hash = '';
            location.hash = link.getAttribute('href');
            await new Promise(done => setTimeout(done, 5));
            const target = document.getElementById(link.getAttribute('href').slice(1));
            if (!target || !target.getClientRects().length) bad.push(link.getAttribute('href'));
        }
        return bad; })()""")
    check(dark == [], f"links that do not land: {dark}")


def check_tables(page):
    bad = page.evaluate("""(() => {
        const bad = [];
        for (const table of document.querySelectorAll('table[data-path]')) {
            for (const head of table.tHead.rows[0].cells) {
                for (const sign of [1, -1]) {
                    head.click();
                    const up = head.getAttribute('aria-sort') === 'ascending' ? 1 : -1;
                    const values = Array.from(table.tBodies[0].rows, r => r.cells[head.cellIndex].getAttribute('data-v'));
                    const known = values.filter(v => v !== null).map(Number);
                    if (known.some((v, i) => i && (v - known[i - 1]) * up < 0))
                        bad.push(table.dataset.path + ' ' + head.dataset.k);
                }
            }
        }
        return bad; })()""")
    check(bad == [], f"columns that do not sort: {bad}")
    left = page.evaluate("""(() => {
        const bad = [];
        for (const filter of document.querySelectorAll('input.filter')) {
            const rows = Array.from(filter.closest('.table').querySelectorAll('tbody tr'));
            filter.value = rows[0].textContent.trim().split(/\\s+/)[0];
            filter.dispatchEvent(new Event('input'));
            const words = filter.value.toLowerCase();
            if (rows.some(r => r.hidden === r.textContent.toLowerCase().includes(words))) bad.push(filter.value);
            filter.value = '';
            filter.dispatchEvent(new Event('input'));
            if (rows.some(r => r.hidden)) bad.push('nothing');
        }
        return bad; })()""")
    check(left == [], f"filters that do not filter: {left}")


def check_blocks(page):
    bars = page.evaluate("document.querySelectorAll('#block-chart g.bar').length")
    if not bars:
        return
    found = page.evaluate("""(() => { const bars = document.querySelectorAll('#block-chart g.bar');
        bars[bars.length - 1].dispatchEvent(new Event('click'));
        return [bars[bars.length - 1].classList.contains('chosen'), document.querySelector('#block-detail b').textContent,
            bars[bars.length - 1].querySelector('title').textContent.split('\\n')[0],
            document.querySelectorAll('#block-detail tbody tr').length]; })()""")
    check(found[0] and found[1] == found[2] and found[3] > 0, f"the selected block: {found}")


def check_zoom(page):
    if not page.evaluate("!!document.getElementById('timeline')"):
        return
    page.evaluate("document.querySelector('#timeline').scrollIntoView()")
    left, top, width = page.evaluate(
        "(() => { const r = document.querySelector('#timeline .main').getBoundingClientRect(); return [r.left, r.top, r.width]; })()")
    before = page.evaluate("document.querySelector('#timeline .times').textContent")
    y = top + 8
    page.mouse("mouseMoved", left + width * .25, y)
    page.mouse("mousePressed", left + width * .25, y, button="left", clickCount=1)
    page.mouse("mouseMoved", left + width * .4, y, button="left")
    page.mouse("mouseReleased", left + width * .5, y, button="left", clickCount=1)
    shown = page.evaluate("[Number(timeline.dataset.from), Number(timeline.dataset.to)]")
    check(abs(shown[0] - .25) < .01 and abs(shown[1] - .5) < .01, f"the zoom shows {shown}")
    check(page.evaluate("document.querySelector('#timeline .times').textContent") != before, "the zoom keeps its axis")
    box = page.evaluate("document.querySelector('svg.strip').getAttribute('viewBox').split(' ').map(Number)")
    full = page.evaluate("Number(document.querySelector('svg.strip').dataset.width)")
    check(abs(box[0] / full - .25) < .01 and abs(box[2] / full - .25) < .01, f"the strip shows {box} of {full}")
    page.mouse("mouseMoved", left + width * .6, y)
    told = page.evaluate("document.querySelector('#timeline-detail span').textContent")
    first = page.evaluate("document.querySelector('svg.strip').dataset.label")
    check(first + ": " in told and " %" in told, f"hovering says: {told}")
    page.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    check(page.evaluate("[Number(timeline.dataset.from), Number(timeline.dataset.to)]") == [0, 1], "Escape does not zoom out")


def check_policy(browser, path):
    """The policy holds: a script, a handler, a style and a picture that somebody adds do nothing."""
    changed = path + ".changed.html"
    with open(path, encoding="utf-8") as page, open(changed, "w", encoding="utf-8") as out:
        out.write(page.read().replace("</main>", "<script>window.broken = 1</script><img src='data:image/png;base64,x' "
                                      "onerror='window.broken = 2'><p id='loud' style='color: red'>x</p></main>"))
    page = browser.open("file://" + changed)
    check(page.evaluate("window.broken") is None, "a script that was added ran")
    check(page.evaluate("getComputedStyle(document.getElementById('loud')).color") != "rgb(255, 0, 0)", "a style that was added applies")
    page.close()


def main():
    program = find()
    if not program:
        return 77
    with tempfile.TemporaryDirectory() as folder, Browser(program, folder) as browser:
        for path in map(os.path.abspath, sys.argv[1:]):
            url = "file://" + path
            if path.endswith(".svg"):
                check_picture(browser, url)
                continue
            check_layout(browser, url)
            check_first_screen(browser, url)
            page = browser.open(url)
            for step in (check_links, check_tables, check_blocks, check_zoom):
                step(page)
            # Links to places in the page are no requests.
            page.events = [e for e in page.events if not (e[0] == "request" and e[1].startswith(url))]
            check_quiet(page, url, path)
            page.close()
        if not sys.argv[1].endswith(".svg"):
            check_policy(browser, os.path.abspath(sys.argv[1]))
    for error in errors[:10]:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
