"""What a memory names as its evidence. By that the memories made of an observation are found."""

import re

OBSERVATION = re.compile(r"\bobservation (\d{1,15})\b")


def observation(number: int) -> str:
    return f"observation {number}"


def event(number: int) -> str:
    return f"event {number}"


def observations_in(text: str) -> frozenset[int]:
    return frozenset(map(int, OBSERVATION.findall(text)))
