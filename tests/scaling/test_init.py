"""The package names what is public, and imports no engine."""

import subprocess
import sys


def test_the_package_imports_no_engine():
    code = "import sys, rosenblatt.scaling; assert not {'dask', 'distributed', 'pyspark'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
