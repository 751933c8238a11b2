# SPDX-License-Identifier: Apache-2.0
"""Is busy in one function for that much CPU time, and says how much it was: burn.py SECONDS"""

import sys
import time


def burn(seconds):
    begin = time.process_time()
    while time.process_time() < begin + seconds:
        pass
    return time.process_time() - begin


print(burn(float(sys.argv[1])))
