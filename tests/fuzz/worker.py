"""A process that works off cases: reads ``seed first last`` from its input, tells of each case in a line of JSON.

The runner restarts it after a crash, and ends it where a case takes too long.
"""

import json
import os
import resource
import sys
import tempfile
import warnings
from pathlib import Path

MEMORY = 6 << 30  # bytes: what asks for more gets a MemoryError, not the machine

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

    from fuzz.kinds import case_of, judged, load_kinds

    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    kind = load_kinds()[sys.argv[1]]()

    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        kind.prepare()
        print(json.dumps({"ready": True}), file=out)
        for line in sys.stdin:
            seed, first, last = map(int, line.split())
            for number in range(first, last):
                print(json.dumps({"start": number}), file=out)
                verdict = judged(kind, case_of(kind, seed, number), Path(name))
                if verdict.outcome in ("slow", "large"):  # the first of its kind may have imported and compiled
                    verdict = judged(kind, case_of(kind, seed, number), Path(name))
                print(json.dumps({"done": number, **verdict._asdict()}), file=out)
