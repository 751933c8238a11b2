# SPDX-License-Identifier: Apache-2.0
"""load.py in a second interpreter of the process, which the main thread enters.

    interpreters.py DIRECTORY CASE      DIRECTORY, CASE: as for load.py
"""

import os
import sys

try:
    import _interpreters as interpreters    # from 3.13 on
except ImportError:
    import _xxsubinterpreters as interpreters

SCRIPT = """import sys
sys.path.insert(0, {path!r})
sys.argv = {arguments!r}
import load
load.main()
"""


def main():
    path = os.path.dirname(os.path.abspath(__file__))
    script = SCRIPT.format(path=path, arguments=["load.py", *sys.argv[1:]])
    interpreters.run_string(interpreters.create(), script)


if __name__ == "__main__":
    main()
