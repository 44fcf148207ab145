"""A cache folder that has all compiled functions of this process's but one."""

from varint.base.numba.cache import cache_folder


def link_cache(folder, start):
    """Link the compiled functions of this cache in a cache in ``folder``, but those whose files begin with ``start``.

    Return the folder of its files and the names of those left out.
    """
    here = folder / "varint" / cache_folder().name
    here.mkdir(parents=True)
    left_out = []
    for path in cache_folder().glob("*.nbc"):
        if path.name.startswith(start):
            left_out.append(path.name)
        else:
            (here / path.name).symlink_to(path)
    assert left_out
    return here, left_out
