"""lit -Dnb_opt=NB_OPT -Dplugin=DivideOnce.so -Dfilecheck=FILECHECK docs/examples/plugin"""

import os

import lit.formats

config.name = "divide-once"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.dirname(lit_config.params["plugin"])
for name, parameter in (("%nb_opt", "nb_opt"), ("%plugin", "plugin"), ("%FileCheck", "filecheck")):
    config.substitutions.append((name, lit_config.params[parameter]))
