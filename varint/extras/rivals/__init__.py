"""Methods of the papers that this package is compared with."""
