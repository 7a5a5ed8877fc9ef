"""Data for `commands.py`: which programs print text that others may have written."""

import re


def _rows(text: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    rows = (line.partition(":") for line in text.replace("\n  ", " ").strip().splitlines())
    return {
        name: tuple(tuple(each.split()) for each in rest.split(" | ") if each.strip())
        for names, _, rest in rows
        for name in names.split()
    }


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Sub-commands whose output is the text of others; `*` stands for all of them. Every other sub-command of
# the program prints status or the user's own things.
SUBCOMMANDS = _rows("""
gh: issue view | issue list | issue status | pr view | pr list | pr diff | api | search |
  release view | release list | run view | gist view | gist list | repo view | repo list |
  status | discussion | project view | project item-list | ruleset view | advisory
glab: issue view | issue list | issue note list | mr view | mr list | mr diff | mr note list |
  api | ci trace | ci view | release view | release list | snippet view | repo view | repo
  search | incident view
hub: issue show | issue | pr show | pr list | api
tea: issues | pulls | releases
jira acli: issue view | issue list | issue comment list | view | list | jira workitem view |
  jira workitem search | sprint list | epic list
linear: issue view | issue list | issue search | view | list
az: boards work-item show | boards query | repos pr show | repos pr list | pipelines runs show |
  monitor log-analytics query | monitor activity-log list | webapp log tail | containerapp logs
  show | aks command invoke | container logs | acr logs | storage message get | storage message
  peek
kubectl oc: logs | describe | get events | attach
docker podman nerdctl: logs | search | attach | service logs | compose logs | container logs |
  pod logs
docker-compose podman-compose: logs
helm: show | search | get | inspect
crictl: logs
aws: logs tail | logs get-log-events | logs filter-log-events | logs get-query-results |
  dynamodb scan | dynamodb query | dynamodb get-item | sqs receive-message | s3api
  select-object-content | athena get-query-results | cloudformation describe-stack-events |
  codecommit get-file | codecommit get-pull-request | codecommit get-comments-for-pull-request |
  ecs describe-tasks | support describe-cases | support describe-communications |
  bedrock-runtime | cloudtrail lookup-events | ssm get-command-invocation | rds-data
  execute-statement | kinesis get-records
gcloud: logging read | logging tail | app logs | run services logs | run jobs logs | functions
  logs | builds log | compute ssh | storage cat | pubsub subscriptions pull | beta logging tail
  | beta run services logs | container clusters logs
gsutil mc s3cmd: cat | head | pipe
rclone: cat | rcat
bq: query | head
firebase: functions:log | database:get | firestore:get
sentry-cli sentry: issues | events | logs
npm pnpm yarn bun: view | info | show | search | v | npm info | pm view
pip pip3 pipx: show | search | index
uv: pip show | tool show
poetry pdm: search | show
conda mamba micromamba: search
cargo: search | info
gem: search | info | specification | query
bundle: info | show
brew: info | search | desc | cat | home
apt apt-get aptitude apt-cache: show | search | showsrc | changelog
dnf yum zypper: info | search | changelog | updateinfo
apk snap flatpak: info | search | find | remote-info
choco winget scoop: info | search | show
composer: show | search | info
go:
mix: hex.info | hex.search | hex.docs | hex.package
opam nix nix-env: show | search | info
mvn gradle sbt stack cabal rustup:
journalctl dmesg whois pbpaste wl-paste get-clipboard mutt neomutt mailx fetchmail getmail lynx
  w3m links elinks websocat wscat grpcurl evans stern kail kubetail logcli tldr finger mu alot
  kafka-console-consumer kcat kafkacat mosquitto_sub ngrep tshark mitmdump gopher yt-dlp
  youtube-dl gallery-dl newsboat rsstail slackcat trafilatura scrapy: *
mail: *
himalaya: message read | read | message export | envelope list | list | search
notmuch: show | search | reply
mblaze mshow mlist msmtp-queue: *
slack discord telegram-cli: messages | read | history | search | chat
heroku: logs | pg:psql | run | releases:output
fly flyctl railway render vercel netlify wrangler sst serverless sls eb pm2 doctl koyeb scalingo
  northflank amplify supabase nomad cf dokku kamal pulumi: logs | log | tail | ssh console |
  inspect --logs | alloc logs | apps logs | app logs | function logs | functions logs
adb: logcat
xcrun: simctl spawn
terraform tofu ansible ansible-playbook vagrant packer:
make just task rake ninja cmake meson bazel:
tox nox pytest jest vitest mocha eslint prettier tsc ruff mypy black:
twurl toot: *
rabbitmqadmin nats pulsar-client: get | sub | consume | stream get
turso pscale neonctl databricks: db shell | shell | sql | query
""")

LOCAL_PROGRAMS = _words("""
    alias apropos basename bg break builtin cal cd chgrp chmod chown clear code cp crontab
    cursor date dd df dirname disown du emacs exit export fallocate false fg file free
    groups hash history hostname htop id install ip jobs kill killall ln locale ls lsof
    mkdir mktemp mount mv nano netstat nproc nvim open passwd pgrep ping pkill popd ps pushd
    pwd readlink realpath reboot return rm rmdir rsync say screen set shift shred sleep ss
    ssh-add ssh-agent ssh-copy-id ssh-keygen ssh-keyscan stat start stty su sync sysctl
    systemctl service test tmux top touch traceroute tree trap true truncate tty type ulimit
    umask uname unalias unset uptime vi vim wait which whereis whoami xdg-open xdotool yes
    zip [ [[ : . source pbcopy clip clip.exe certbot nmap ab wrk hey k6 vegeta oha locust
    mkfifo exa eza read hostnamectl timedatectl ufw iptables chsh useradd usermod gpg gpg2
    ssh-keygen openssl patch qemu-img ffmpeg convert magick docker-machine minikube kind k3d
    skaffold tilt expo xcodebuild gcc g++ clang cc javac rustc dotnet mvnw gradlew nginx
    apachectl caddy supervisorctl launchctl defaults osascript cmp sqlite-utils pg_ctl
    pg_isready createdb dropdb initdb redis-server mongod
    """)
# They count or compare: no word of their input is printed.
COUNTERS = _words("""
    wc cksum md5sum sha1sum sha256sum sha512sum shasum b2sum sum cmp true test [ sponge
    """)
# They print what they read: files or standard input.
READERS = _words("""
    cat tac nl head tail less more most bat batcat zcat zless zgrep gzcat bzcat xzcat lz4cat
    zstdcat grep egrep fgrep rg ag ack ugrep sed gsed awk gawk mawk cut paste sort uniq tr
    rev fold fmt column comm join diff sdiff colordiff delta jq yq xq gojq dasel strings xxd
    od hexdump base64 base32 look expand unexpand iconv dos2unix pr tsort html2text pandoc
    glow mdcat pdftotext exiftool csvcut csvlook csvgrep mlr xsv qsv sqlite3 pup htmlq
    xmllint xmlstarlet hck choose sd get-content gc type select-string sls findstr readelf
    objdump nm antiword catdoc docx2txt tesseract ccat pygmentize rich jless fx gron catimg
    moor ov view split csplit tee readtags zipinfo mediainfo perldoc pydoc pydoc3 ri fzf ts
    unrtf json
    """)
PATTERN_FIRST = _words("""
    grep egrep fgrep rg ag ack ugrep zgrep sed gsed awk gawk mawk jq yq gojq select-string
    findstr sd
    """)
PRINTERS = frozenset(("echo", "printf", "print", "write-output", "figlet"))
SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "fish", "ash", "eval", "source", "."))
INTERPRETERS = _words("""
    python python2 python3 pypy pypy3 node nodejs deno bun ruby perl php lua julia rscript
    tsx ts-node elixir iex powershell pwsh groovy swift
    """)
URL_PROGRAMS = _words("""
    curl curlie wget wget2 http https xh xhs httpie aria2c axel iwr irm invoke-webrequest
    invoke-restmethod nc ncat netcat telnet socat ftp lftp sftp hurl
    """)
DATABASES = _words("""
    psql mysql mariadb mongo mongosh redis-cli valkey-cli sqlcmd cqlsh clickhouse-client
    clickhouse pgcli mycli usql influx cypher-shell snowsql pg_dump mysqldump mongoexport
    mongodump duckdb iredis trino presto
    """)
# Programs that run another one, and their options that take a value.
WRAPPERS = {
    "sudo": "-u -g -h -p -C -U -T",
    "doas": "-u",
    "env": "-u -C -S",
    "timeout": "-k -s --signal --kill-after",
    "gtimeout": "-k -s",
    "nice": "-n",
    "ionice": "-c -n",
    "stdbuf": "-i -o -e",
    "time": "-f -o",
    "nohup": "",
    "setsid": "",
    "command": "",
    "exec": "-a",
    "builtin": "",
    "caffeinate": "-t",
    "unbuffer": "",
    "watch": "-n -d",
    "xvfb-run": "-a -s",
    "strace": "-e -o -p",
    "proxychains": "-f",
    "proxychains4": "-f",
    "torsocks": "",
    "parallel": "-j",
    "op": "",
    "sshpass": "-p -f",
    "chronic": "",
    "systemd-run": "-p -u",
    "rtk": "",
    "k3s": "",
    "microk8s": "",
    "npx": "-p",
    "bunx": "",
    "pnpx": "",
    "uvx": "--from",
}
# `uv run pytest` runs pytest.
RUNNERS = frozenset(
    (
        *(("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run")),
        *(("bundle", "exec"), ("npm", "exec"), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "dlx")),
        *(("mise", "exec"), ("rye", "run"), ("pixi", "run"), ("doppler", "run"), ("op", "run")),
        *(("devbox", "run"), ("asdf", "exec"), ("rbenv", "exec"), ("pyenv", "exec")),
    )
)
# Global options with a value, which may stand before a sub-command.
VALUED = _words("""
    -n --namespace -R --repo --context -C -c -f --file -p --project-name --profile --region
    --project --cluster --kubeconfig -H --host -u --user -a --app -s --server --token --org
    -e --env --environment -i --filter --prefix -w --workspace --cwd -F --endpoint-url
    --output --subscription -g --resource-group
    """)
CONTAINER_OPTIONS = _words("""
    -v -e -p -w -u -l -m -c -h --name --network --env --volume --workdir --user --entrypoint
    --mount --env-file --platform --memory --cpus --add-host --label --publish --hostname
    --restart --gpus
    """)
FETCH_OPTIONS = _words("""
    -H -d -X -u -A -e -w -b -c -F -T -x -m -K -E -D -P -t -U --header --data --data-raw
    --data-binary --json --request --user --output --write-out --form --max-time --cookie
    --connect-timeout --retry --user-agent --proxy --cacert --cert --key --resolve --method
    --data-urlencode --output-document --body --timeout --tries --directory-prefix
    --retry-delay --url-query
    """)
# Fields of `gh … --json` that hold no prose.
PLAIN_FIELDS = _words("""
    number id state url isDraft mergeable mergeStateStatus createdAt updatedAt closedAt
    mergedAt baseRefName headRefOid baseRefOid additions deletions changedFiles
    reviewDecision databaseId status conclusion sha tagName isLatest isPrerelease
    statusCheckRollup headSha nameWithOwner defaultBranchRef visibility isPrivate
    viewerPermission mergeCommit headRefName closed isCrossRepository
    """)
VENDORED = re.compile(
    r"(?:^|/)(?:node_modules|bower_components|jspm_packages|site-packages|dist-packages|vendor|vendored|third_party"
    r"|third-party|thirdparty|3rdparty|Pods|Carthage|elm-stuff|_deps|\.cargo/(?:registry|git)|pkg/mod|\.gradle"
    r"|\.m2|\.ivy2|\.nuget/packages|\.pub-cache|\.yarn/(?:cache|unplugged)|\.pnpm-store|\.bun/install|\.npm/_cacache"
    r"|\.terraform|\.opam|\.stack|\.cabal|\.hex|\.mix/archives|\.gem|\.bundle|gems/[\w.-]+-\d[\w.]*"
    r"|\.rustup/toolchains|deps/\w+/(?:lib|src|priv|guides|README\S*|mix\.exs|CHANGELOG\S*)|\.eggs|\.tox"
    r"|\.claude/plugins|\.vscode/extensions|conda/pkgs|\.julia/packages|Library/Caches|vcpkg_installed|\.conan2?"
    r"|lib/ruby/gems|luarocks|\.luarocks|DerivedData/[^/]+/SourcePackages|\.build/checkouts|\.dub/packages)(?:/|$)"
    r"|GOMODCACHE|\$\((?:go list -m|npm root|bundle (?:show|info)|gem (?:contents|env)|composer|pip show"
    r"|python\S* -c .*__(?:file|path)__|node -\w .*require\.resolve)"
)
ELSEWHERE = re.compile(
    r"^/var/(?:log|mail|spool/mail)(?:/|$)|(?:^|/)Downloads(?:/|$)|(?:^|/)(?:Maildir|Library/(?:Messages|Mail))(?:/|$)"
)
SOCKET = re.compile(r"/dev/(?:tcp|udp)/([^/]+)")  # as the shell opens them in redirections
# Programs of dependencies are tools; only their other files are text.
TOOL = re.compile(r"(?:^|/)\.?bin/[^/]*$|/bin/[\w.-]+\.(?:js|cjs|mjs|py|php)$")
URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,14}://[^\s'\"<>)\]}\\]+", re.IGNORECASE)
LOCAL_HOST = re.compile(
    r"localhost|host\.docker\.internal|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1\]?|10(?:\.\d+){3}|192\.168(?:\.\d+){2}"
    r"|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2}|.*\.(?:local|localhost|test|internal|lan|svc)",
    re.IGNORECASE,
)
REQUESTS = re.compile(
    r"\burlopen\b|\burlretrieve\b|\brequests\s*\.\s*(?:get|post|put|patch|request|head|Session)\b"
    r"|\bhttpx\s*\.\s*(?:get|post|request|stream|Client|AsyncClient)\b|\baiohttp\.|\bfetch\s*\(|\baxios\b"
    r"|\bhttps?\.(?:get|request)\s*\(|\bHTTPS?Connection\b|\bNet::HTTP\b|\bURI\.(?:open|parse)\b|\bopen-uri\b"
    r"|LWP::|(?<!set )\bthe clipboard\b|\bapplication \"(?:Mail|Messages|Notes|Safari|Reminders)"
    r"|\bfile_get_contents\s*\(\s*['\"]https?:|\bcurl_(?:init|exec)\b|\bReq\.get|\bHTTPoison\b"
    r"|\bfeedparser\.parse|\bInvoke-(?:WebRequest|RestMethod)\b|\bi(?:wr|rm)\b\s|\bWebClient\b|\bURLSession\b"
    r"|\bpd\.read_(?:csv|json|html)\(\s*['\"]https?:|\bgot\(|\bimaplib\b|\bsubprocess\b.{0,80}\b(?:curl|wget|gh)\b"
    r"|\bGet-Clipboard\b|\bpyperclip\.paste\b"
)
# Calls of libraries that are not listed above, in code that has a foreign URL.
GETS = re.compile(
    r"(?<!environ\.)\b(?!getenv|getattr)(?:\w+\.)?(?:get|open|fetch|request|download|scrape|crawl)\w*[\s(!]",
    re.IGNORECASE,
)
READS_FILE = re.compile(
    r"\bopen\s*\(|read_text|readFile|require\s*\(|\bimport\(|\bcat\b|File\.read|slurp|Path\("
)
FOREIGN_REF = (
    r"(?:FETCH_HEAD|(?:refs/)?pull/\d+|pr/\d+|(?:refs/)?merge-requests/\d+"
    r"|(?:(?:refs/)?remotes/)?(?:{})/)"
)
FOREIGN_REMOTES = ("upstream", "fork")

# Sub-commands of any program that reads what others send.
INBOXES = _words("""
    logs tickets issues messages comments inbox mail emails threads conversations
    """)
CLOUD_READS = re.compile(
    r"\blogs?\b.*\b(?:tail|show|read|download|filter\S*|get-log\S*)|\bquery\b|\b(?:receive|peek)\S*"
)
# Programs that run a command on another machine: after `--`, or as the value of an option.
ELSEWHERE_PROGRAMS = _words("""
    lxc incus multipass nomad fly flyctl heroku vagrant ansible salt gcloud
    """)
HOSTED_DATABASES = frozenset(("snowsql", "bq", "trino", "presto"))
# Options whose value is code or a query; and programs that take one address.
CODE_OPTIONS = _words("-c -e -p -pe -ne -r --eval --print -Command -command eval")
QUERY_OPTIONS = _words("-c -e -q --eval --query -Q --command --execute")
ONE_ADDRESS = _words("http https httpie xh xhs ftp telnet nc ncat netcat")
_RECORDS = re.compile(r"(?:^|[ =])(?:txt|any|spf)\b", re.IGNORECASE)
_OBJECTS = re.compile(
    r"\bget (?:.* )?(?:cm|configmaps?|secrets?|issues?)\b.*(?:-o|--output)[ =]?"
    r"(?:yaml|json|go-template|template)"
)
# Programs whose whole line shows whether they print foreign text.
FOREIGN_LINES = {
    "tcpdump": re.compile(r"(?:^| )-\w*[AX]"),
    "xclip": re.compile(r"(?:^| )-(?:\w*o\b|-out)"),
    "xsel": re.compile(r"^(?!.*(?:^| )-(?:\w*[icd]|-(?:input|clear|delete)))"),
    "openssl": re.compile(r"^s_client\b"),
    **dict.fromkeys(("dig", "nslookup", "host", "drill"), _RECORDS),
    **dict.fromkeys(("kubectl", "oc"), _OBJECTS),
}
