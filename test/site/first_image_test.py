"""first_image_test.py BUILD: the commands of docs/first-image.md that are marked to be run, one after the other."""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
build = pathlib.Path(sys.argv[1])

page = (ROOT / "docs/first-image.md").read_text()
blocks = re.findall(r"<!-- run -->\n```sh\n(.*?)```", page, re.S)
if len(blocks) < 4:
    sys.exit("docs/first-image.md has fewer commands than it had")
if not (build / "venv/bin/python").exists():
    print("skipped: there is no Python package")
    sys.exit(0)
with tempfile.TemporaryDirectory() as folder:
    for name, target in (("build", build), ("test", ROOT / "test")):
        pathlib.Path(folder, name).symlink_to(target)
    said = ""
    for block in blocks:
        done = subprocess.run(["bash", "-e", "-c", block], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{block}\n{done.stdout}{done.stderr}")
        said += done.stdout
    for expected in ("(512, 512)", "misset_x"):
        if expected not in said:
            sys.exit(f"nothing said {expected}:\n{said}")
    made = sorted(file.name for file in pathlib.Path(folder).glob("*.npy"))
print(f"{len(blocks)} commands: {' '.join(made)}")
sys.exit(made != ["faster.npy", "first.npy", "rotated.npy", "smooth.npy"])
