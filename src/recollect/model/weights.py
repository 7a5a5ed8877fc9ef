"""What is stored and nobody has weighed yet: of an older release, or from an import."""

from dataclasses import dataclass

from recollect.model.jobs import Job


@dataclass(frozen=True, slots=True)
class Unweighed:
    """An observation or a summary (`kind`, as in `model/search.py`) by its number. `job`: what it was written
    by; None where that is gone, and with it what it could be weighed by."""

    kind: str
    source: int
    project_id: int
    job: Job | None
