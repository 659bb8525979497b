"""site_test.py PYTHON ROOT OUT [OPTIONS of make_site.py]: the site is made without a warning, and its links lead somewhere."""

import os
import subprocess
import sys

python, root, out, *options = sys.argv[1:]
if not os.path.exists(python):
    print(f"skipped: there is no {python}; ./bootstrap docs installs Sphinx")
    sys.exit(0)
if not os.path.exists(os.path.join(os.environ["NB_BUILD"], "python/nanobragg/_core.pyi")):
    print("skipped: the Python package, whose docstrings are pages, is not built")
    sys.exit(0)
sys.exit(subprocess.run([python, "-B", os.path.join(root, "docs/make_site.py"), out, *options]).returncode)
