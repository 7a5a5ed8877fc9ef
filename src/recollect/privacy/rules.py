"""All rules, in the order in which they look. A token that says what it is comes before a name that only
says that something secret follows; what the user has written comes between them."""

from recollect.privacy.context_rules import CONTEXT
from recollect.privacy.rule import Rule
from recollect.privacy.token_rules import BROKEN, TOKENS

__all__ = ["ALL", "TOKENS"]


ALL: tuple[Rule, ...] = (*TOKENS, *BROKEN, *CONTEXT)
