"""Full-text search over observations, facts, summaries and prompts."""

from recollect.model.search import Hit
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.values import matching
from recollect.text import words

MOST_TERMS = 64


class Search(Database):
    def search(
        self,
        text: str,
        *,
        project_id: int | None,
        type: str | None,  # noqa: A002 - the word users know
        limit: int,
    ) -> list[Hit]:
        """Best first. All words must occur; where nothing has all of them, any of them."""
        terms = words(text)[:MOST_TERMS]
        if not terms:
            return []
        for operator in ("AND", "OR"):
            match = matching(terms, operator)
            rows = self.rows(
                "search", "search", match=match, project_id=project_id, type=type, limit=limit
            )
            if rows:
                break
        return [
            Hit(
                kind=row["kind"],
                id=row["id"],
                session_id=row["session_id"],
                project_id=row["project_id"],
                at=row["at"],
                type=row["type"],
                title=row["title"] or "",
                doubted=bool(row["doubted"]),
                excerpt=self._excerpt(match, row["doc"]),
            )
            for row in rows
        ]

    def _excerpt(self, match: str, doc: int) -> str:
        row = self.row("search", "excerpt", match=match, doc=doc)
        return row[0] if row else ""
