"""Where everything is kept: one protocol, one package per database."""
