"""make_site.py OUT [--without-outputs]: makes the site with Sphinx, and checks it offline.

The notebooks are run for their outputs, with the Python of the system, which has PyTorch.
A warning of Sphinx is an error. Then every link of every page has to lead to a file of the site,
and to a place in it where it names one; nothing may be loaded from elsewhere at view time. Exit
status 1 with a line for each that does not."""

import html.parser
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

DOCS = pathlib.Path(__file__).resolve().parent


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.places.update(named[key] for key in ("id", "name") if named.get(key))
        if tag == "a" and named.get("href"):
            self.links.append(named["href"])
        for key in ("src", "href"):
            if tag in ("script", "img", "link", "iframe", "source") and named.get(key):
                self.loaded.append(named[key])


def wrong_links(site):
    pages = {path.resolve(): Page(path.read_text()) for path in site.rglob("*.html")}
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for target in page.loaded:
            if urllib.parse.urlparse(target).netloc:
                yield f"{name}: loads {target} from elsewhere"
        for target in (*page.links, *page.loaded):
            parts = urllib.parse.urlparse(target)
            if parts.scheme or parts.netloc:
                continue
            file = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not file.is_file():
                yield f"{name}: there is no {target}"
            elif parts.fragment and file in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[file].places:
                    yield f"{name}: there is no such place: {target}"


def kernel(folder):
    """Writes a Jupyter kernel: the system's Python with this Python's ipykernel."""
    packages = [path for path in sys.path if path.endswith("site-packages")]
    program = (f"import sys; sys.path += {packages!r}\n"
               "from ipykernel.kernelapp import launch_new_instance; launch_new_instance()")
    build = pathlib.Path(os.environ.get("NB_BUILD", DOCS.parent / "build")).resolve()
    spec = {"argv": ["/usr/bin/python3", "-c", program, "-f", "{connection_file}"],
            "display_name": "nanobragg", "language": "python",
            "env": {"PYTHONPATH": str(build / "python"), "PYDEVD_DISABLE_FILE_VALIDATION": "1",
                    "PYTHONWARNINGS": "ignore:IProgress not found",
                    "MPLBACKEND": "module://matplotlib_inline.backend_inline"}}
    place = pathlib.Path(folder) / "kernels/nanobragg"
    place.mkdir(parents=True)
    (place / "kernel.json").write_text(json.dumps(spec))


def main():
    site = pathlib.Path(sys.argv[1])
    run = "off" if "--without-outputs" in sys.argv[2:] else "force"
    with tempfile.TemporaryDirectory() as folder:
        kernel(folder)
        made = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b",
                               "html", "-D", f"nb_execution_mode={run}",
                               "-d", f"{site}-doctrees", DOCS, site],
                              env={**os.environ, "JUPYTER_PATH": folder})
    problems = sorted(set(wrong_links(site)))
    print("\n".join(problems))
    pages = len(list(site.rglob("*.html")))
    print(f"{pages} pages, {len(problems)} wrong links: {site}/index.html")
    sys.exit(1 if made.returncode or problems or not pages else 0)


if __name__ == "__main__":
    main()
