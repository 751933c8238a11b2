# SPDX-License-Identifier: Apache-2.0
"""Keeps the interpreter busy, and modules written in C."""

import json
import re

COUNT = 0
while True:
    COUNT += sum(i * i for i in range(20000))
    TEXT = json.dumps([{"number": i, "text": str(COUNT + i)} for i in range(500)])
    json.loads(TEXT)
    re.sub(r"(\d)(\d+)", r"\2\1", TEXT)
