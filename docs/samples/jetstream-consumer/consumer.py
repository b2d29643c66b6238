"""Appends every public event to a file, one JSON document per line, from the stream GANTRY of NATS JetStream.

pip install nats-py
NATS_URL=tls://nats.example:4222 NATS_USER=audit NATS_PASSWORD=... python3 consumer.py events.ndjson
"""

import asyncio
import json
import os
import ssl
import sys

import nats
from nats.js.api import AckPolicy, ConsumerConfig

CONSUMER = "audit"
PAUSE_S = 1


def last_positions(file):
    """The identity of the log of the events in the file, and the log position of the last one of each service.

    An incomplete last line is removed.
    """
    file.seek(0)
    content = file.read()
    end = content.rfind(b"\n") + 1
    file.truncate(end)
    records = [json.loads(line) for line in content[:end].splitlines()]
    last = {record["service"]: record["logPosition"] for record in records}
    return records[-1]["log"] if records else None, last


async def consume(file):
    log, last = last_positions(file)
    options = {}
    if "NATS_USER" in os.environ:
        options.update(user=os.environ["NATS_USER"], password=os.environ["NATS_PASSWORD"])
    if "NATS_CA" in os.environ:
        options.update(tls=ssl.create_default_context(cadata=os.environ["NATS_CA"]))
    url = os.environ.get("NATS_URL", "nats://localhost:4222")
    connection = await nats.connect(url, inbox_prefix=b"_INBOX.audit", **options)
    try:
        jetstream = connection.jetstream()
        # One message at a time, so that a message that is delivered again comes before all later ones.
        await jetstream.add_consumer(
            "GANTRY",
            ConsumerConfig(
                name=CONSUMER,
                durable_name=CONSUMER,
                filter_subject="events.>",
                ack_policy=AckPolicy.EXPLICIT,
                max_ack_pending=1,
            ),
        )
        subscription = await jetstream.pull_subscribe_bind(CONSUMER, stream="GANTRY")
        while True:
            try:
                messages = await subscription.fetch(1, timeout=30)
            except nats.errors.TimeoutError:
                continue
            for message in messages:
                service = message.subject.split(".")[1]
                position = message.headers["log-position"]
                identity = message.headers["log-identity"]
                # Positions of two logs cannot be compared: an operator has to decide how to continue.
                if log and identity != log:
                    sys.exit(f"The log of {file.name} was replaced: move the file away to begin with the new log")
                log = identity
                # A message that is delivered or published again is not after the last one of its service.
                if position > last.get(service, ""):
                    event = json.loads(message.data)
                    record = {"service": service, "log": log, "logPosition": position, "event": event}
                    file.write(json.dumps(record).encode() + b"\n")
                    file.flush()
                    last[service] = position
                await message.ack()
    finally:
        await connection.close()


async def main():
    with open(sys.argv[1], "ab+") as file:
        while True:
            try:
                await consume(file)
            except (OSError, nats.errors.Error) as error:
                print(error, file=sys.stderr)
            await asyncio.sleep(PAUSE_S)


asyncio.run(main())
