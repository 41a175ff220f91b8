"""pages.py SITE SCREENSHOTS: opens every page of the site in Chromium, 360 pixels wide and dark, then 1280
wide and light: nothing but boxes of their own scrolls sideways, the console has no error, nothing is loaded
from elsewhere, and the search finds something. Of Doxygen's pages it opens the list of files.

Leaves screenshots of each, prints PAGE: what is wrong, and ends with 1 if anything is."""

import shutil
import sys
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.support.wait import WebDriverWait

site, screenshots = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
shutil.rmtree(screenshots, ignore_errors=True)
options = webdriver.ChromeOptions()
for argument in ("headless", "no-sandbox", "disable-dev-shm-usage", "hide-scrollbars"):
    options.add_argument(argument)
# What is to be loaded from elsewhere fails, and the console tells.
options.add_argument("host-resolver-rules=MAP * ~NOTFOUND")
options.set_capability("goog:loggingPrefs", {"browser": "SEVERE"})
browser = webdriver.Chrome(options=options)
wrong = []


def open_page(page, where):
    browser.get((site / page).as_uri())
    wrong.extend(f"{where}: {one['message']}" for one in browser.get_log("browser"))


try:
    # Else the light or dark of the page before would be remembered.
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "localStorage.clear()"})
    pages = {one.relative_to(site) for one in site.rglob("*.html")} - {Path("404.html")}
    pages = sorted(one for one in pages if one.parts[0] != "headers" or one.name == "files.html")
    for width, scheme in (360, "dark"), (1280, "light"):
        (screenshots / str(width)).mkdir(parents=True)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [media]})
        for page in pages:
            open_page(page, f"{page} at {width} pixels")
            root = "document.documentElement"
            if browser.execute_script(f"return {root}.scrollWidth > {root}.clientWidth"):
                wrong.append(f"{page} at {width} pixels: scrolls sideways")
            browser.save_screenshot(screenshots / str(width) / f"{str(page).replace('/', '_')}.png")
    open_page("index.html", "index.html")
    try:
        browser.find_element("css selector", ".md-search__input").send_keys("halo")
        WebDriverWait(browser, 5).until(
            lambda _: browser.find_elements("css selector", ".md-search-result__item")
        )
    except WebDriverException:
        wrong.append("index.html: the search for 'halo' finds nothing")
finally:
    browser.quit()
print(*wrong, sep="\n")
print(f"{len(pages)} pages at two widths, {len(wrong)} complaints")
sys.exit(1 if wrong or not pages else 0)
