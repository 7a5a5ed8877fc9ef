"""Characters for the rules' examples, made at run time: no line of this repository looks like a live key, to
a scanner or to a person."""

from itertools import cycle, islice

_MIXED = "q7Zt2Lw9Xb4Kd8Rm3Vc6Jh5Yn1Ps0Gf"


def mixed(length: int, start: int = 0) -> str:
    return "".join(islice(cycle(_MIXED), start, start + length))


def upper(length: int) -> str:
    return mixed(length).upper()


def hexed(length: int) -> str:
    return "".join(islice(cycle("3fa91c07be52d846"), length))


def digits(length: int) -> str:
    return "".join(islice(cycle("4820571936"), length))
