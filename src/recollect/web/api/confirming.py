"""Vouching for what only the web says, as `recollect confirm` does."""

from recollect.parameters import Parameter
from recollect.web.api.observations import PLACE, must_be_there
from recollect.web.api.parts import FLAG, ID, NUMBER, shape
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row


def confirm(backend: Backend, *, id: int, confirmed: bool) -> Json:
    answer = must_be_there(backend, id, backend.order("confirm", id=id, confirmed=confirmed))
    return {"id": answer["id"], "confirmed": confirmed}


ROWS = (
    Row(
        "POST",
        f"{PLACE}/confirm",
        "Say that it holds, though only the web says so, or no longer. `id`: the one that bears it, which is "
        "another where it is folded into one.",
        confirm,
        place=(ID,),
        body=(Parameter("confirmed", "Whether it is.", "flag", required=True),),
        answer=shape(id=NUMBER, confirmed=FLAG),
    ),
)
