"""pages.py SITE [SCREENSHOTS]: every link and anchor of the site leads somewhere within it; with
SCREENSHOTS every page is also opened in headless Chromium, 360 pixels wide and dark, then 1280 wide
and light: nothing but boxes of their own scrolls sideways, nothing is loaded from elsewhere, the
console has no error, and the search finds something. Screenshots of each are left in the folder.

Prints PAGE: what is wrong, and ends with 1 if anything is."""

import base64
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

BROWSERS = ("chromium-headless-shell", "chromium")
WIDTHS = ((360, "dark"), (1280, "light"))
# What sticks out of the page, unless something around it scrolls by itself.
OVERFLOW = """(() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return "";
  for (const one of document.body.querySelectorAll("*")) {
    if (one.getBoundingClientRect().right <= wide + 1) continue;
    let box = one.parentElement;
    while (box && !/auto|scroll|hidden|clip/.test(getComputedStyle(box).overflowX)) box = box.parentElement;
    if (!box || box === document.body) return one.tagName + " " + one.className + " " + one.textContent.trim().slice(0, 40);
  }
  return "the page";
})()"""
SEARCH = """new Promise((resolve) => {
  const input = document.querySelector(".md-search__input");
  document.querySelector("#__search").click();
  input.focus();
  input.value = "halo";
  for (const kind of ["keyup", "input", "change"]) input.dispatchEvent(new Event(kind, { bubbles: true }));
  let left = 50;
  const look = () => {
    const found = document.querySelectorAll(".md-search-result__item").length;
    if (found || !--left) resolve(found);
    else setTimeout(look, 100);
  };
  look();
})"""


class Names(HTMLParser):
    def __init__(self):
        super().__init__()
        self.anchors, self.links = {"", "__top"}, []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value is not None and tag != "base":
                self.links.append((self.getpos()[0], value))


def check_links(site):
    pages = {}
    for path in sorted(site.rglob("*.html")):
        if path.name == "404.html":  # its links are those of a server
            continue
        names = Names()
        names.feed(path.read_text(encoding="utf-8"))
        pages[path] = names
    wrong, count = [], 0
    for path, names in pages.items():
        for line, link in names.links:
            parts = urlsplit(link)
            count += 1
            where = f"{path.relative_to(site)}:{line}"
            if parts.scheme in ("http", "https", "mailto", "data", "javascript"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                wrong.append(f"{where}: there is no {link}")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{where}: {link}: no such anchor")
    print(f"{len(pages)} pages, {count} links, {len(wrong)} of them wrong")
    return sorted(pages), wrong


class Chromium:
    """A browser that is spoken to through a pair of pipes, in its DevTools protocol."""

    def __init__(self, program, profile):
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def descriptors():  # 3 and 4 are what --remote-debugging-pipe wants
            read, write = (fcntl.fcntl(one, fcntl.F_DUPFD, 100) for one in (to_browser, from_browser))
            os.dup2(read, 3)
            os.dup2(write, 4)
            os.close(read)
            os.close(write)

        self.process = subprocess.Popen(
            [
                program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            preexec_fn=descriptors,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.count, self.rest, self.events, self.session = 0, b"", [], None
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.into, 1 << 20)
            if not more:
                raise SystemExit("FAILED: the browser ended")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def __call__(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise SystemExit(f"FAILED: {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        """Loads a page; returns what is wrong with how it loaded."""
        self.events.clear()
        self("Page.navigate", url=url)
        while not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            self.events.append(self.receive())
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return self.complaints()

    def complaints(self):
        out = []
        for one in self.events:
            what = one.get("params", {})
            if one.get("method") == "Runtime.exceptionThrown":
                details = what["exceptionDetails"]
                out.append(
                    "exception: "
                    + details.get("exception", {}).get("description", details["text"]).split("\n")[0]
                )
            elif one.get("method") == "Runtime.consoleAPICalled" and what["type"] in ("error", "assert"):
                out.append(
                    "console: "
                    + " ".join(str(arg.get("value", arg.get("description"))) for arg in what["args"])
                )
            elif one.get("method") == "Log.entryAdded" and what["entry"]["level"] == "error":
                out.append("console: " + what["entry"]["text"] + " " + what["entry"].get("url", ""))
            elif one.get("method") == "Network.requestWillBeSent":
                url = what["request"]["url"]
                if not url.startswith(("file:", "data:", "about:", "blob:")):
                    out.append("loads " + url)
        return out

    def value(self, expression):
        result = self("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return result["result"].get("value")

    def close(self):
        self.process.terminate()
        self.process.wait()


def check_pages(site, pages, screenshots):
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise SystemExit("FAILED: there is no Chromium (on Debian: apt-get install chromium-headless-shell)")
    shutil.rmtree(screenshots, ignore_errors=True)
    wrong = []
    with tempfile.TemporaryDirectory() as profile:
        browser = Chromium(program, profile)
        # Else the light or dark of the page before would be remembered.
        browser("Page.addScriptToEvaluateOnNewDocument", source="localStorage.clear()")
        for width, scheme in WIDTHS:
            browser(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=900,
                deviceScaleFactor=1,
                mobile=width < 600,
            )
            browser(
                "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
            )
            (screenshots / str(width)).mkdir(parents=True)
            for path in pages:
                name = path.relative_to(site)
                where = f"{name} at {width} pixels"
                wrong += [f"{where}: {one}" for one in browser.open(path.as_uri())]
                overflow = browser.value(OVERFLOW)
                if overflow:
                    wrong.append(f"{where}: scrolls sideways: {overflow}")
                picture = browser("Page.captureScreenshot", format="png")["data"]
                file = str(name.with_suffix("")).replace("/", "_") + ".png"
                (screenshots / str(width) / file).write_bytes(base64.b64decode(picture))
        browser.open((site / "index.html").as_uri())
        found = browser.value(SEARCH)
        wrong += [f"index.html: search: {one}" for one in browser.complaints()]
        if not found:
            wrong.append("index.html: the search for 'halo' finds nothing")
        browser.close()
    print(
        f"{len(pages)} pages at {len(WIDTHS)} widths, {found} pages found by the search, {len(wrong)} complaints"
    )
    return wrong


def main():
    site = Path(sys.argv[1]).resolve()
    pages, wrong = check_links(site)
    if len(sys.argv) > 2:
        wrong += check_pages(site, pages, Path(sys.argv[2]))
    for one in wrong:
        print(one)
    return 1 if wrong or not pages else 0


sys.exit(main())
