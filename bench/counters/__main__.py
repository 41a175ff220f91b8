"""What `clcook counters` asks of NVIDIA's profiler, see the end of this file."""

import json
import signal
import sys

from cuda import replay
from ncu import Ncu
from ptx import Refused


def main(verb, *words):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    try:
        if verb == "version":
            print(Ncu().version(), end="")
        elif verb == "replay":  # FOLDER NAME...: under the profiler
            replay(words[0], words[1:])
        elif verb == "profile":  # FOLDER SECONDS UNKNOWN,... NAME...
            folder, seconds, unknown, *names = words
            ncu = Ncu(filter(None, unknown.split(",")))
            calls = [one.result() for one in ncu.profile(folder, names, float(seconds))]
            print(json.dumps({"unknown": ",".join(ncu.unknown), "calls": calls}))
    except Refused as error:
        print(error, file=sys.stderr, end="")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
