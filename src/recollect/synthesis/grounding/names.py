"""Names that everybody knows: what looks like code in prose, and is not a claim about this project."""

_EXTENSIONS = """
    py pyi ipynb ts tsx js jsx mjs cjs mts cts vue svelte astro go mod sum rs rb erb php java kt
    kts scala swift c h cc cpp cxx hpp cs fs ex exs erl hs ml clj lua pl r jl dart zig nim sh
    bash zsh fish ps1 bat sql graphql proto json jsonl json5 yaml yml toml ini cfg conf xml html
    htm css scss sass less md mdx rst txt csv tsv lock tf tfvars gradle cmake svg png jpg jpeg
    gif pdf db sqlite sqlite3 wasm snap tmpl j2 log map service
"""
_NAMED_FILES = """
    Dockerfile Makefile Gemfile Procfile Jenkinsfile Vagrantfile Rakefile CMakeLists Justfile
    Podfile
"""
_FOLDERS = """
    src lib libs tests spec apps docs conf bin pkg internal cmd packages components scripts utils
    assets migrations routes handlers
"""
_KNOWN = """
    github gitlab bitbucket javascript typescript coffeescript sqlite postgresql mysql mariadb
    mongodb dynamodb graphql graphiql oauth openid openapi openai chatgpt deepseek langchain
    llamaindex ollama fastapi sqlalchemy pytest numpy scipy pytorch tensorflow opencv jupyterlab
    nodejs node.js next.js nextjs vue.js vuejs nuxt.js react.js reactjs express.js three.js
    d3.js chart.js discord.js socket.io asp.net ml.net nestjs angularjs webassembly websocket
    websockets webpack webrtc webgl webhook devops gitops devtools youtube linkedin
    stackoverflow macos ios ipados watchos tvos iphone ipad ubuntu debian freebsd openbsd
    archlinux powershell vscode jetbrains intellij pycharm webstorm phpstorm xcode docker
    dockerhub kubernetes cloudflare cloudfront cloudformation cloudwatch bigquery firebase
    firestore supabase planetscale cockroachdb elasticsearch opensearch rabbitmq activemq zeromq
    memcached redis clickhouse influxdb timescaledb cassandra couchdb neo4j duckdb rocksdb
    leveldb grpc protobuf jsonschema jsonrpc json.net restructuredtext markdown latex mathjax
    katex html css xml pypi npmjs rubygems crates.io readthedocs circleci travisci gitlabci
    githubactions sonarqube sonarcloud typescripts codecov dependabot renovate eslint stylelint
    tslint golangci precommit autopep8 opentelemetry datadog newrelic pagerduty sendgrid
    mailchimp twilio stripe paypal quickbooks hubspot salesforce servicenow wordpress
    woocommerce drupal phpmyadmin phpunit junit testng nunit xunit playwright mapbox
    openstreetmap bitcoin ethereum solidity metamask openzeppelin linux unix posix windows nixos
    homebrew macports winget anthropic claude claudecode gemini copilot mistral huggingface qwen
    llama vllm lmstudio openrouter ipv ipython javadoc jsdoc typedoc pydoc tailwindcss
    styledcomponents restapi devcontainer autocomplete openssl openssh ffmpeg imagemagick
    libreoffice onedrive sharepoint outlook powerpoint whatsapp tiktok bytedance alibaba
    sveltekit solidjs remix alpinejs htmx jquery lodash rxjs redux mobx zustand graphql-js
    apollo hasura prisma typeorm knex sequelize mongoose celery airflow dagster pyspark
    databricks snowflake redshift powerbi looker ecmascript commonjs esmodules requirejs
    systemjs rollup parcel vite vitest mocha chai karma cypress webdriver iot saas paas iaas phd
    usa etc mcp sdk cli gui tui api url uri json yaml toml uuid ulid http https tcp udp dns
"""
_KEYWORDS = """
    true false null none nil undefined nan void int integer float double bool boolean string str
    char byte bytes list dict map set array tuple object any unknown never number symbol bigint
    type interface class struct enum def fn func function var let const static public private
    protected return yield await async import export from if else elif for while do switch case
    match try catch except finally raise throw throws with as is in not and or self this super
    new delete typeof instanceof lambda pass break continue print console log error warn info
    debug main init test tests get post put patch head options ok yes no on off
"""
_INTERPRETERS = """
    python python3 node deno bun ruby perl php bash sh zsh pwsh java go cargo git docker kubectl
    helm terraform curl wget npm npx pnpm yarn pip pip3 uv poetry gh aws gcloud az brew apt
    apt-get systemctl psql sqlite3 mysql redis-cli make ls cat grep rg sed awk find cp mv rm
    mkdir chmod chown ssh scp tar rsync ln touch head tail dotnet mvn gradle bundle rails rake
    mix composer
"""
EXTENSIONS = "|".join(_EXTENSIONS.split())
NAMED_FILES = "|".join(_NAMED_FILES.split())
FOLDERS = frozenset(_FOLDERS.split())
KNOWN = frozenset(_KNOWN.split())
KEYWORDS = frozenset(_KEYWORDS.split())
INTERPRETERS = frozenset(_INTERPRETERS.split())


def is_known(name: str) -> bool:
    """A product or a term, in whatever spelling; a plural or a version at its end does not matter."""
    lower = name.lower().strip(".")
    forms = (lower, lower.rstrip("0123456789."), lower.removesuffix("s"))
    return any(form in KNOWN for form in forms)
