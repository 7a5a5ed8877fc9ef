"""Turns as coding agents make them, in several languages: what was asked, done, printed and said."""

from aforesaid.model.events import Subagent
from tests.support.observed import GREEN, MENDED, PRICING, RED
from tests.support.turns import by, edited, failed, ran, read, turn, used, wrote

PYTHON = turn(
    "test_bulk fails with 9.0 instead of 81, fix the bulk discount and add nothing else",
    read("orders/pricing.py", PRICING),
    failed("pytest -q", RED),
    edited("orders/pricing.py", PRICING, MENDED),
    ran(".venv/bin/python -m pytest -q", GREEN),
    said="The discount multiplied by the rate instead of by one minus the rate. "
    "Fixed in `apply_discount`.\n\n"
    "Next steps:\n- add a changelog entry for the bulk discount\n- publish the new release",
)
SESSION = """\
import { randomBytes } from "node:crypto";
import { redis } from "../redis";

export const SESSION_TTL_SECONDS = 900;

export async function createSession(userId: string): Promise<string> {
  const token = randomBytes(32).toString("hex");
  await redis.set(`session:${token}`, userId, "EX", SESSION_TTL_SECONDS);
  return token;
}

export async function revokeSession(token: string): Promise<void> {
  await redis.del(`session:${token}`);
}
"""
SERVER = 'import express from "express";\nconst app = express();\napp.listen(3000);\n'
TYPESCRIPT = turn(
    "Add login sessions in Redis with a 15 minute lifetime. Rate limiting comes later.",
    read("src/server.ts", SERVER),
    wrote("src/auth/session.ts", SESSION),
    edited(
        "src/server.ts",
        SERVER,
        SERVER.replace("app.listen", 'app.post("/login", loginHandler);\napp.listen'),
    ),
    failed(
        "npm test -- --runInBand",
        "FAIL src/auth/session.test.ts\n  ● createSession › stores the user id\n"
        "    TypeError: Cannot read properties of undefined (reading 'set')\n\n"
        "Tests:       1 failed, 6 passed, 7 total\nTime:        2.41 s",
    ),
    said="Sessions are stored in Redis. One test still fails because the Redis client is not mocked. "
    "I will mock the Redis client next and should add rate limiting to the login route later.",
)
LRU = (
    "package cache\n\ntype LRU struct {\n\tcap int\n}\n\n"
    "func (l *LRU) Get(key string) (any, bool) {\n\treturn nil, false\n}\n"
)
GO = turn(
    "the cache must not grow without bound",
    read("internal/cache/lru.go", LRU),
    edited(
        "internal/cache/lru.go",
        LRU,
        LRU.replace("cap int", "cap   int\n\tmu    sync.Mutex\n\torder *list.List")
        + "\nfunc (l *LRU) evictOldest() {\n\tl.order.Remove(l.order.Back())\n}\n",
    ),
    ran(
        "go test ./internal/... 2>&1 | tail -5",
        "ok  \texample.org/shop/internal/cache\t0.412s\nok  \texample.org/shop/internal/http\t1.007s",
    ),
    ran("go vet ./..."),
    ran(
        'git commit -am "cache: evict the oldest entry"',
        "[main 4be91d2] cache: evict the oldest entry\n 1 file changed, 14 insertions(+), 1 deletion(-)",
    ),
    said="The LRU evicts its oldest entry when it is full.",
)
COMPOSE = "services:\n  db:\n    image: postgres:14\n    ports:\n      - 5432:5432\n"
CONFIG = turn(
    "upgrade the compose file to postgres 16",
    edited("docker-compose.yml", COMPOSE, COMPOSE.replace("postgres:14", "postgres:16.3-alpine")),
    edited(
        ".github/workflows/ci.yml",
        "    timeout-minutes: 10\n    env:\n      PGVERSION: 14\n",
        "    timeout-minutes: 20\n    env:\n      PGVERSION: 16\n",
    ),
    ran("docker compose config --quiet"),
    said="Postgres is now 16.3 in the compose file and in CI. "
    "You still need to dump and restore the data volume.",
)
POOL = """\
export class ConnectionPool {
  private readonly maxConnections = 20;
  private idleTimeoutMs = 30_000;
  async acquire(): Promise<Connection> {
    if (this.waiting.length > 100) throw new PoolExhaustedError("too many waiters in queue");
    return this.next();
  }
}
"""
READING = turn(
    "why do requests hang under load? don't change anything",
    used("Grep", "src/db/pool.ts\nsrc/api/orders.ts", pattern="acquire\\("),
    read("src/db/pool.ts", POOL),
    read(
        "src/api/orders.ts", "const c = await pool.acquire();\nconst rows = await c.query(SQL);\n"
    ),
    said="`listOrders` never releases its connection. You should call `release()` in a finally block "
    "and add a metric for waiting requests.",
)
MIGRATION = turn(
    "add an index on orders.customer_id",
    wrote(
        "migrations/0007_customer_index.sql",
        "CREATE INDEX CONCURRENTLY idx_orders_customer_id ON orders (customer_id);\n",
    ),
    failed(
        "alembic upgrade head",
        "sqlalchemy.exc.OperationalError: could not connect to server: Connection refused",
    ),
    said="The migration is written but could not be applied: the database is down.",
)
BUILD = turn(
    "make the build work again",
    failed(
        "npm run build",
        "src/app.tsx(42,7): error TS2322: Type 'string' is not assignable to type 'number'.",
    ),
    edited("src/app.tsx", 'const size: number = "12";\n', "const size: number = 12;\n"),
    ran(
        "npm run build",
        "vite v5.2.0 building for production...\n✓ 341 modules transformed.\n✓ built in 3.21s",
    ),
    ran("npx eslint src --max-warnings 0"),
    said="The build works again.",
)
SHELL = turn(
    "write a backup script",
    wrote(
        "scripts/backup.sh",
        "#!/usr/bin/env bash\nset -euo pipefail\n"
        'pg_dump "$DATABASE_URL" | gzip > "backup-$(date +%F).sql.gz"\n'
        "find . -name 'backup-*.sql.gz' -mtime +14 -delete\n",
    ),
    ran("chmod +x scripts/backup.sh && shellcheck scripts/backup.sh"),
    said="The script keeps two weeks of backups.",
)
EXPLORER = Subagent("agent-7", "Explore")
HELPED = turn(
    "how is the invoice PDF made?",
    *by(
        EXPLORER,
        read(
            "billing/invoice.py",
            "from weasyprint import HTML\n\ndef render_invoice(order):\n"
            "    return HTML(string=page(order)).write_pdf()\n",
        ),
        said="Invoices are rendered by render_invoice with weasyprint.",
    ),
    said="`render_invoice` in billing/invoice.py makes the PDF with weasyprint.",
)
TALK = turn("we will use Postgres, not MongoDB, for the audit log. Agreed?", said="Agreed.")
GERMAN = turn(
    "Die Preisberechnung ist falsch, bitte korrigieren",
    edited("orders/pricing.py", PRICING, MENDED),
    ran("pytest -q", GREEN),
    said="Der Rabatt wird jetzt richtig berechnet.",
)

HEADER = """\
pub fn parse_header(line: &str) -> Result<Header, ParseError> {
    let (k, v) = line.split_once(':').unwrap();
    Ok(Header::new(k, v))
}
"""
ERRORS = "pub enum ParseError {\n    Empty,\n    TooLong(usize),\n}\n"
RUST = turn(
    "parse_header panics on lines without a colon, please return an error instead",
    used(
        "Grep",
        "src/http/header.rs:1:pub fn parse_header\nsrc/http/mod.rs:14:mod header;",
        pattern="parse_header",
    ),
    read("src/http/header.rs", HEADER),
    edited(
        "src/http/header.rs",
        HEADER,
        HEADER.replace(".unwrap();", ".ok_or(ParseError::MissingColon)?;"),
    ),
    failed(
        "cargo test header",
        "error[E0599]: no variant or associated item named `MissingColon` found for enum `ParseError`\n"
        "error: could not compile `httpd` (lib test) due to 1 previous error",
        code=101,
    ),
    read("src/error.rs", ERRORS),
    edited("src/error.rs", ERRORS, ERRORS.replace("Empty,", "Empty,\n    MissingColon,")),
    ran(
        "cargo test header",
        "running 8 tests\ntest http::header::tests::splits ... ok\n\n"
        "test result: ok. 8 passed; 0 failed; 0 ignored; finished in 0.02s",
    ),
    ran(
        "cargo clippy -- -D warnings",
        "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 4.87s",
    ),
    said="parse_header returns `ParseError::MissingColon` for a line without a colon. The fuzz target is "
    "not updated yet; I'd suggest adding a corpus entry for it as a follow-up.",
)
LIST = """\
const filter = ref({ min: 0, max: 500 })
watch(() => route.query.page, () => { filter.value = { min: 0, max: 500 } })
"""
STORE = """\
import { defineStore } from 'pinia'

export const useFilterStore = defineStore('filter', {
  state: () => ({ min: 0, max: 500 }),
  persist: true,
})
"""
VUE = turn(
    "the price filter resets when I change pages, fix it; also bump vite to 6",
    read("src/views/ProductList.vue", f"<script setup>\n{LIST}</script>\n"),
    edited(
        "src/views/ProductList.vue",
        LIST,
        "const filter = useFilterStore()\n"
        "watch(() => route.query.page, () => loadPage(route.query.page))\n",
    ),
    wrote("src/stores/filter.ts", STORE),
    failed(
        "pnpm add -D vite@6",
        "ERR_PNPM_PEER_DEP_ISSUES Unmet peer dependencies\n"
        '@vitejs/plugin-vue 4.6.2 requires vite@"^4.0.0 || ^5.0.0"',
    ),
    ran(
        "pnpm vitest run 2>&1 | tail -4",
        " Test Files  5 passed (5)\n      Tests  23 passed (23)\n   Duration  3.10s",
    ),
    ran(
        "git add -A && git status --short", "M  src/views/ProductList.vue\nA  src/stores/filter.ts"
    ),
    said="The filter lives in a Pinia store now, so paging keeps it. Vite could not be bumped: the plugin "
    "needs version 5 or lower. Next I would upgrade @vitejs/plugin-vue to 5.2 and then vite.",
)
