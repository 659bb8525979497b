"""gallery.py NB_SIM OUT [FLAG...]: the pictures of gallery.md, made by the page's own commands.

Each command writes --png=NAME.png, here into the folder OUT. FLAGs are added to every command:
`-pixel 2` makes the small pictures of the test. Run from any folder; the commands are run in
the root of the repository, as the page says."""

import array
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def commands():
    """(name of the picture, arguments of nb-sim) for each command of the page."""
    page = (ROOT / "docs/gallery.md").read_text()
    for block in re.findall(r"```sh\n(nb-sim .*?)```", page, re.S):
        words = shlex.split(block.replace("\\\n", " "))
        (picture,) = [word for word in words if word.startswith("--png=")]
        name = picture.removeprefix("--png=")
        if f"](gallery/{name})" not in page:
            raise SystemExit(f"gallery.md makes {name} and does not show it")
        yield name, [word for word in words[1:] if word != picture]


def main():
    program, out, flags = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]), sys.argv[3:]
    out.mkdir(parents=True, exist_ok=True)
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, words in commands():
            picture = out.resolve() / name
            done = subprocess.run([program, *words, *flags, f"--png={picture}", "--quiet",
                                   "-floatfile", f"{folder}/float.bin",
                                   "-intfile", f"{folder}/int.img", "-nopgm", "-nonoise"], cwd=ROOT, capture_output=True, text=True)
            if done.returncode or not picture.exists():
                raise SystemExit(f"{name}: {done.stderr}")
            photons = array.array("f", pathlib.Path(folder, "float.bin").read_bytes())
            if not 0 < max(photons) < float("inf"):
                raise SystemExit(f"{name}: the image has no light")
            count += 1
    print(f"{count} pictures in {out}")


if __name__ == "__main__":
    main()
