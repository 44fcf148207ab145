"""The image, all bytes, of a new run file, made in memory.

HDF5 takes as long to create one of the eighty datasets of a run file as twenty steps of a double pendulum take. So the
image of a file of zeros, whose arrays have the same names, types and shapes, is kept with the place of each array in
it, and new arrays are copied into it. If all arrays, with the unused rests of their chunks, have more than LARGEST
bytes, HDF5 writes them itself.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import h5py
import numpy as np

LIBRARY = "v110"  # the oldest format that HDF5 may write: 1.10, the first with one writer and many readers (SWMR)
BOUND = h5py.h5f.LIBVER_V110
KEPT, LARGEST = 4, 1 << 22  # number of images of zeros that are kept, and the most bytes of the arrays of one
NUMBERS = count()  # a name for each file in memory: HDF5 takes two open ones of one name for the same file
WHOLE = h5py.h5s.ALL
SCALAR = h5py.h5s.create(h5py.h5s.SCALAR)


class Stored(NamedTuple):
    """An array of a file. ``rows``: rows of a chunk if the array can grow, else 0."""

    array: np.ndarray
    rows: int = 0

    @property
    def bytes_in_file(self) -> int:
        """Return the bytes of the array with the unused rest of its last chunk."""
        if not self.rows:
            return self.array.nbytes
        return -(-len(self.array) // self.rows) * self.rows * self.array[:1].nbytes


class ImageLayout(NamedTuple):
    """Name, shape, type and rows in a chunk of each array of a file; links: name, and that of the group it leads to."""

    arrays: tuple[tuple[str, tuple[int, ...], str, int], ...]
    links: tuple[tuple[str, str], ...]


class ImagePattern(NamedTuple):
    """The image of a file of zeros, and the place of each array in it.

    places: by name of the array, for each of its chunks the first byte, the first row and the row after the last; an
    array that cannot grow is one piece, (first byte, None, None)
    """

    image: bytes
    places: dict[str, list[tuple[int, int | None, int | None]]]


def image_of(
    attributes: Mapping[str, bytes], texts: Mapping[str, bytes], stored: Mapping[str, Stored], links: Mapping[str, str]
) -> bytes:
    """Return the image of a file with these attributes, datasets of texts, arrays, and links to groups."""
    arrays = {name: array for name, (array, _) in stored.items()}
    parts = ((name, array.shape, array.dtype.str, stored[name].rows) for name, array in arrays.items())
    layout = ImageLayout(tuple(parts), tuple(links.items()))
    small = sum(part.bytes_in_file for part in stored.values()) <= LARGEST
    with _opened(_filled(_pattern(layout), arrays)) if small else _made(layout, arrays) as file:
        for name, text in attributes.items():
            of_fixed_length, kind = _scalar(text)  # texts of variable length lie in a heap, which has no checksum
            h5py.h5a.create(file.id, name.encode(), kind, SCALAR).write(of_fixed_length)
        for name, text in texts.items():
            value, kind = _scalar(text)
            h5py.h5d.create(file.id, name.encode(), kind, SCALAR, dcpl=_properties()).write(WHOLE, WHOLE, value)
        file.flush()
        return file.id.get_file_image()


def _scalar(text: bytes) -> tuple[np.ndarray, h5py.h5t.TypeID]:
    value = np.array(text)
    return value, h5py.h5t.py_create(value.dtype, logical=True)


def _properties() -> h5py.h5p.PropDCID:
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_obj_track_times(False)
    return properties


def _filled(pattern: ImagePattern, arrays: Mapping[str, np.ndarray]) -> bytes:
    image = bytearray(pattern.image)
    for name, places in pattern.places.items():
        for at, first, last in places:
            part = (arrays[name] if first is None else arrays[name][first:last]).tobytes()
            image[at : at + len(part)] = part
    return bytes(image)


def _opened(image: bytes) -> h5py.File:
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fapl_core(len(image), False)
    access.set_libver_bounds(BOUND, BOUND)
    access.set_file_image(image)
    return h5py.File(h5py.h5f.open(_new_name().encode(), h5py.h5f.ACC_RDWR, fapl=access))


def _new_name() -> str:
    return f"run {next(NUMBERS)} in memory"


@lru_cache(KEPT)
def _pattern(layout: ImageLayout) -> ImagePattern:
    zeros = {name: np.zeros(shape, kind) for name, shape, kind, _ in layout.arrays}
    with _made(layout, zeros) as file:
        file.flush()
        places = {name: list(_places(file[name].id, rows)) for name, _, _, rows in layout.arrays}
        return ImagePattern(file.id.get_file_image(), places)


def _made(layout: ImageLayout, arrays: Mapping[str, np.ndarray]) -> h5py.File:
    """Open a new file in memory with these arrays."""
    file = h5py.File(_new_name(), "w", driver="core", backing_store=False, libver=LIBRARY)
    properties, groups = _properties(), {"": file.id}
    for path, shape, _, rows in layout.arrays:
        array = np.ascontiguousarray(arrays[path]).reshape(shape)  # ascontiguousarray turns a number into (1,)
        if rows:
            file.create_dataset(path, data=array, chunks=(rows, *shape[1:]), maxshape=(None, *shape[1:]))
            continue
        at, _, name = path.rpartition("/")
        if at not in groups:
            groups[at] = file.require_group(at).id
        kind, space = h5py.h5t.py_create(array.dtype, logical=True), h5py.h5s.create_simple(shape)
        h5py.h5d.create(groups[at], name.encode(), kind, space, dcpl=properties).write(WHOLE, WHOLE, array)
    for name, group in layout.links:
        file[name] = file[group]
    return file


def _places(dataset: h5py.h5d.DatasetID, rows: int) -> Iterator[tuple[int, int | None, int | None]]:
    """Yield the entries of `ImagePattern.places` of one array; nothing for an array without elements."""
    if rows:
        chunks = (dataset.get_chunk_info(k) for k in range(dataset.get_num_chunks()))
        yield from ((chunk.byte_offset, chunk.chunk_offset[0], chunk.chunk_offset[0] + rows) for chunk in chunks)
    elif (at := dataset.get_offset()) is not None:
        yield at, None, None
