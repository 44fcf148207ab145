"""Robots in XML read with ``repair=True``: the changes of `xml_files`, with more impossible inertias and bad comments.

A file that loads without repair must load with it to the same bits, and nothing is then reported as repaired; a file
that loads only with repair must report a repair. All rules of `xml_files` hold as well.
"""

import re
from pathlib import Path

from fuzz.json_files import Case, change, pick
from fuzz.kinds import register
from fuzz.xml_files import XmlFiles, token

import varint as vi
from varint.io.mechanism_data import to_data

OF_INERTIAS: dict = {}
MOMENT = re.compile(
    r'(?<=ixx=")[^"]+|(?<=iyy=")[^"]+|(?<=izz=")[^"]+|(?<=ixy=")[^"]+|(?<=<ixx>)[^<]+|(?<=<izz>)[^<]+'
    r'|(?<=diaginertia=")[^"]+|(?<=mass value=")[^"]+|(?<=<mass>)[^<]+'
)
MOMENTS = ("0", "5", "-1", "1e-9", "1e-30", "1e9", "1e160", "-1e-14", "nan", "3 1 1", "0 0 0", "1 1")
COMMENTS = ("<!-- a -- b -->", "<!-----\n>-->", "<!-- a --->", "<!-- <link -- name='x'> -->", "<!----><!-- x --y-->")


@change(OF_INERTIAS)
def moment_changed(rng, text):
    place = token(rng, text, MOMENT)
    return text[: place.start()] + pick(rng, MOMENTS) + text[place.end() :]


@change(OF_INERTIAS)
def comment_added(rng, text):
    place = token(rng, text, re.compile("<(?![?!])|>(?=[^>]*<)"))
    return text[: place.start()] + pick(rng, COMMENTS) + text[place.start() :]


@register
class RepairedFiles(XmlFiles):
    """Robots whose inertias and comments are wrong, read with ``repair=True``."""

    name = "repair"
    count = 10_000
    few = 200

    def case(self, rng, number, seed):
        case = super().case(rng, number, seed)
        text, names = case.content.decode(errors="replace"), [*case.names]
        if rng.random() < 0.7:  # an original with these changes alone loads more often
            text, names = self.text_of(case.names[0]), [case.names[0]]
        for _ in range(int(rng.integers(1, 4))):
            names.append(pick(rng, sorted(OF_INERTIAS)))
            text = OF_INERTIAS[names[-1]](rng, text)
        return Case(tuple(names), text.encode(errors="replace"))

    def load(self, path: Path) -> vi.Mechanism:
        return vi.load_mechanism(path, repair=True)

    def check(self, case, folder):
        if altered := super().check(case, folder):
            return altered
        path = folder / f"plain{Path(case.names[0]).suffix}"
        path.write_bytes(case.content)
        try:
            repaired = self.load(path)
            changes = repaired.import_report.repaired
            try:
                plain = vi.load_mechanism(path)
            except vi.VarintError as problem:
                return None if changes else f"loads with repair alone and reports none: {problem}"
        finally:
            path.unlink()
        if changes:
            return f"loads without repair, which reports {changes[0].what}"
        return None if repr(to_data(plain)) == repr(to_data(repaired)) else "loads with repair to another mechanism"
