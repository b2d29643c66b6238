"""Appends every public event to a file, one JSON document per line, and continues there after any interruption.

BASE_URL=http://localhost:8080 GANTRY_TOKEN=pat_... python3 consumer.py events.ndjson
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

BASE_URL = os.environ.get("BASE_URL", "http://localhost:8080")
PAUSE_S = 1
# The service sends something every 15 seconds.
SILENCE_S = 60


def last_position(file):
    """The position of the last complete line. A write that was interrupted leaves an incomplete one, which is removed."""
    file.seek(0)
    content = file.read()
    end = content.rfind(b"\n") + 1
    file.truncate(end)
    lines = content[:end].splitlines()
    return json.loads(lines[-1])["position"] if lines else None


def follow(file):
    after = last_position(file)
    query = urllib.parse.urlencode({"follow": "true", **({"after": after} if after else {})})
    headers = {"authorization": f"Bearer {os.environ['GANTRY_TOKEN']}", "accept": "application/x-ndjson"}
    request = urllib.request.Request(f"{BASE_URL}/events?{query}", headers=headers)
    with urllib.request.urlopen(request, timeout=SILENCE_S) as response:
        for line in response:
            # An empty line is a sign of life; a line without its end was cut off.
            if line.endswith(b"\n") and line != b"\n":
                file.write(line)
                file.flush()


def main():
    with open(sys.argv[1], "ab+") as file:
        while True:
            try:
                follow(file)
            except urllib.error.HTTPError as error:
                problem = error.read().decode()
                # A later attempt gets the same answer: an operator has to decide how to continue.
                if error.code < 500 and error.code != 429:
                    sys.exit(problem)
                print(problem, file=sys.stderr)
            except (OSError, http.client.HTTPException) as error:
                print(error, file=sys.stderr)
            time.sleep(PAUSE_S)


main()
