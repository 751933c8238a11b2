#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The chart's README.md and schema say what values.yaml says, and the chart has the version of the
project.

    check_readme.py [--chart DIRECTORY]"""

import os
import re
import sys

import chart
import host

PROJECT = re.compile(r"^project\(flamelet VERSION ([\d.]+)", re.MULTILINE)


def check_versions(subject):
    version = PROJECT.search(host.read_text(os.path.join(chart.ROOT, "CMakeLists.txt")))[1]
    about = chart.load_file(subject.path("Chart.yaml"))
    faults = [f"Chart.yaml: {key} is {about[key]}, the project's version {version}"
              for key in ("version", "appVersion") if about[key] != version]
    images = chart.load_all(about["annotations"]["artifacthub.io/images"])[0]
    pod = chart.find(subject.objects(chart.ENDPOINT), "DaemonSet")["spec"]["template"]["spec"]
    told, used = [item["image"] for item in images], [item["image"] for item in pod["containers"]]
    if told != used:
        faults.append(f"Chart.yaml: artifacthub.io/images has {told}, pods have {used}")
    return faults


def check_texts(subject):
    try:
        host.run(sys.executable, subject.path("../make-readme.py"), "--check", subject.directory)
    except host.Failure as failure:
        return [str(failure)]
    return []


def check(directory):
    subject = chart.Chart(directory)
    return check_texts(subject) + check_versions(subject)


def main():
    return chart.judge(check, chart.parser(__doc__).parse_args().chart)


if __name__ == "__main__":
    sys.exit(main())
