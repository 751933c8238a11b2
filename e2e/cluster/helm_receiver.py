#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""e2e/local's receiver for agents in pods: it listens at all addresses of the node, and a line of its output
is a request, with the time it came, its headers and its message.

    helm_receiver.py PORT PROTO_FILE OUTPUT"""

import http.server
import json
import os
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../local"))

# pylint: disable=wrong-import-position
from google.protobuf import json_format
import receiver
import request_log


class Handler(receiver.Handler):
    def store(self, body):
        if body:  # the doctor's request is empty
            self.request_log.add(body)
        message = self.request_class.FromString(body)
        json.dump({"at": time.time(), "headers": dict(self.headers.items()),
                   "message": json_format.MessageToDict(message)}, self.output)
        self.output.write("\n")
        self.output.flush()
        return 200


def main():
    port, proto_path, output_path = sys.argv[1:]
    Handler.request_class = receiver.load_request_class(proto_path)
    Handler.request_log = request_log.RequestLog("helm_receiver")
    server = http.server.HTTPServer(("", int(port)), Handler)
    # A request that was written down is answered, too.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    with open(output_path, "a", encoding="utf-8") as Handler.output:
        server.serve_forever()


if __name__ == "__main__":
    main()
