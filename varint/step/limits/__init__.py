"""Hard limits in compiled code, and their arrays."""
