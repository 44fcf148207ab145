"""The distribution that holds this package: its name for pip, and the command that installs an extra of it."""

DISTRIBUTION = "varint-dynamics"  # the package named varint in the public index is another one


def install_command(extra: str) -> str:
    """Return the commands that install an extra, by name: where varint came as a wheel, and from a checkout."""
    return f'pip install "{DISTRIBUTION}[{extra}]" (in a checkout: pip install -e ".[{extra}]")'
