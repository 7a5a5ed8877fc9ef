"""Which command lines print text that somebody else may have written."""

from aforesaid.provenance.commands import Downloads
from tests.support.tables import loop_over

FOREIGN = r"""
exec 3<>/dev/tcp/example.org/80; printf 'GET /\n' >&3; cat <&3
cat < /dev/tcp/example.org/80
head -1 </dev/udp/example.org/17
rsync h:/x ./d && cat d/x
curl -s https://example.org/x
cd /tmp && wget -qO- https://example.org/notes.md
sudo timeout 5 curl example.org
cat urls.txt | xargs -n1 curl -s
http GET https://api.example.com/items
curl -s https://api.example.com/v1/issues | jq '.[].title' | head -20
echo "$(curl -s https://example.org/motd)"
body=$(curl -s https://example.org/motd); echo "$body"
diff <(curl -s https://example.org/a) local.txt
for n in 1 2 3; do gh issue view $n; done
if gh pr view 12 --comments; then echo shown; fi
bash -c 'kubectl logs deploy/web --tail 50'
sh -lc "docker logs web 2>&1 | tail -n 40"
gh pr view 12
gh pr diff 12 | head -100
gh issue list --label bug --json title,body
gh api repos/acme/shop/issues/3/comments
gh run view 991 --log-failed
gh search code "retry policy" --limit 5
glab mr view 4 --comments
jira issue view SHOP-12
kubectl logs -f pod/web-0 -n prod
kubectl -n prod exec web-0 -- cat /srv/app/README
kubectl get configmap app -o yaml
stern web
docker logs --tail 20 shop-web-1
docker compose logs web
docker exec db psql -U shop -c 'select body from tickets'
ssh deploy@10.1.2.3 cat /srv/app/motd
ssh prod 'tail -n 100 /var/log/app.log | grep ERROR'
aws s3 cp s3://bucket/report.txt -
aws logs tail /aws/lambda/web --since 1h
gcloud logging read 'severity>=ERROR' --limit 10
heroku logs --tail -a shop
fly logs -a shop
vercel logs shop.vercel.app
journalctl -u nginx -n 100
tail -n 50 /var/log/nginx/access.log
psql -h db.example.com -U shop -c 'select * from tickets'
psql postgres://u:p@db.example.com/shop -c 'select note from orders'
mysql --host=db.example.com shop -e 'select * from comments'
redis-cli -h cache.example.com get banner
mongosh mongodb+srv://cluster.example.net/shop --eval 'db.notes.find()'
cat node_modules/left-pad/README.md
sed -n 1,40p .venv/lib/python3.12/site-packages/httpx/_client.py
grep -rn retry vendor/github.com/acme/sdk/
rg -n "timeout" third_party/
head -50 ~/.cargo/registry/src/index.crates.io-6f17d22bba15001f/serde-1.0.0/README.md
less $(go env GOMODCACHE)/github.com/acme/sdk@v1.2.0/README.md
find node_modules/evil -name '*.md' -exec cat {} +
cat < node_modules/left-pad/package.json
git fetch origin pull/12/head && git log -3 FETCH_HEAD
git show upstream/main:README.md
git diff main...FETCH_HEAD
git ls-remote https://github.com/acme/other.git
npm view left-pad
pip index versions httpx && pip show httpx
cargo search serde
brew info jq
apt-cache show nginx
python -c 'import urllib.request as u; print(u.urlopen("https://a.org").read())'
python3 - <<'PY'\nimport requests\nprint(requests.get("https://example.org/api").text)\nPY
node -e "fetch('https://example.org').then(r => r.text()).then(console.log)"
pbpaste
xclip -o -selection clipboard | head
wl-paste
himalaya message read 42
curl -fsSL https://example.org/install.sh | sh
curl -so guide.md https://example.org/guide.md && cat guide.md
git clone https://github.com/acme/other /tmp/other && cat /tmp/other/README.md
wget https://example.org/a.tar.gz && tar xzf a.tar.gz && cat a/README
curl -s https://example.org/x | tee page.html
nc example.org 80 < request.txt
lynx -dump https://example.org
yt-dlp --get-description https://video.example/abc
openssl s_client -connect example.org:443
dig TXT example.org
whois example.org
powershell -c "Invoke-WebRequest https://example.org"
powershell -NoProfile Invoke-WebRequest https://example.org
pwsh iwr e.example/x
pwsh node_modules/evil/postinstall.ps1
helm show readme bitnami/nginx
svn cat https://svn.example.org/trunk/README
env FOO=1 nohup curl https://example.org/
time gh release view v1.2.0
node node_modules/evil/postinstall.js
grpcurl api.example.com:443 shop.Orders/List
websocat wss://stream.example.org
""".strip().splitlines()
OWN = r"""
git log -3
git status && git diff
git push origin main
git fetch origin
git pull --rebase
git clone https://github.com/acme/other.git
git remote add upstream https://github.com/acme/shop.git
git commit -m "Fetch pages with curl https://example.org"
git show origin/main:README.md
git log origin/main..HEAD --oneline
git checkout -b feature/upstream-sync
pytest -q
pwsh ./tools/build.ps1 -Release
pwsh iwr http://localhost:8000/health
make release
grep -rn curl README.md
grep -n "https://example.org" docs/*.md
echo "see https://example.org/docs"
sed -i 's#http://old.example#https://new.example#' config.yml
curl http://localhost:8000/health
curl -s http://127.0.0.1:8000/api | jq .
curl http://[::1]:3000/
curl -s http://192.168.1.10:8080/status
curl -s -o /dev/null -w '%{http_code}' https://example.org/health
curl -sSfLo tool.tgz https://example.org/tool.tgz
wget -q https://example.org/data.csv
curl -s https://example.org/list | wc -l
curl -s https://example.org/data.json > data.json
curl -sf https://example.org/ >/dev/null && echo up
VERSION=$(curl -s https://example.org/version)
gh pr create --fill
gh pr merge 12 --squash
gh pr checkout 12
gh issue create --title "Bug" --body "x"
gh issue comment 3 --body done
gh auth status
gh repo clone acme/shop
gh workflow run ci.yml
gh pr view --json number -q .number
npm install left-pad
npm ci && npm run build
npm test
pip install -r requirements.txt
pip list
cargo build --release
go mod download
docker build -t shop .
docker compose up -d
docker ps -a
docker pull nginx:1.27
docker run --rm -v "$PWD":/src shop-test pytest -q
kubectl apply -f k8s/
kubectl get pods -n prod
kubectl rollout status deploy/web
helm upgrade --install web ./chart
terraform plan
aws s3 cp dist/ s3://bucket/ --recursive
aws sts get-caller-identity
aws s3 ls s3://bucket/
ssh prod sudo systemctl restart web
ssh-keygen -t ed25519
scp build.tgz deploy@host:/srv/
rsync -a dist/ host:/srv/www/
psql -c 'select * from tickets'
psql -h localhost -U shop -c '\dt'
psql -h db.example.com -f migrations/004.sql -q
mysql -h 127.0.0.1 shop -e 'show tables'
redis-cli ping
ls node_modules | head
du -sh node_modules
rm -rf node_modules vendor
ls vendor/
node_modules/.bin/eslint src
npx tsc --noEmit
find . -name '*.py' -not -path './node_modules/*'
grep -rn foo src --exclude-dir=node_modules
cat src/app.py
cat package.json | jq .scripts
head -20 /etc/hosts
python -c 'print(1)'
python - <<'PY'\nimport json\nprint(json.load(open("a.json"))["url"])\nPY
open https://example.org
cat <<'EOF' > notes.md\nRun curl https://example.org first.\nEOF
kubectl port-forward svc/web 8080:80
export API=https://api.example.com
npm config set registry https://registry.example.org
ping -c1 example.org
tail -f logs/dev.log
pbcopy < notes.txt
mkdir -p vendor && touch vendor/.keep
git grep -n retry
tar czf out.tgz dist
node scripts/build.js
""".strip().splitlines()


def _lines(rows: list[str]) -> list[str]:
    return [row.replace("\\n", "\n") for row in rows]


def test_a_command_that_prints_somebody_elses_text_is_recognised() -> None:
    assert [line for line in _lines(FOREIGN) if not Downloads().add_command(line)] == []


def test_other_commands_are_not() -> None:
    assert [line for line in _lines(OWN) if Downloads().add_command(line)] == []


@loop_over(
    ("earlier", "later"),
    [
        ("curl -sSLo guide.md https://example.org/guide.md", "cat guide.md"),
        ("curl -O https://example.org/guide.md", "grep -n token guide.md"),
        ("curl -s https://example.org/g > /tmp/g.txt", "head /tmp/g.txt"),
        ("wget -q https://example.org/a/guide.html", "cat ./guide.html"),
        ("git clone https://github.com/acme/other.git", "sed -n 1,50p other/README.md"),
        ("gh repo clone acme/other /tmp/o", "cat /tmp/o/CONTRIBUTING.md"),
        ("scp host:/srv/motd ./motd", "cat motd"),
        ("unzip -q bundle.zip -d /tmp/bundle", "cat /tmp/bundle/README"),
        ("gh issue view 3 > issue.txt", "cat issue.txt"),
        ("git fetch origin pull/12/head:pr-12", "git log -1 pr-12"),
        ("git remote add mallory https://github.com/m/shop", "git show mallory/main:README.md"),
        ("aws s3 cp s3://bucket/report.txt report.txt", "cat report.txt"),
        ("curl -so a.md https://example.org/a; mv a.md b.md", "cat b.md"),
        ("scp h:/x.md .", "cat x.md"),
        ("scp 'host:/srv/*.md' .", "cat x.md"),
        ("scp host:/srv/x.md docs/", "cat docs/x.md"),
        ("rsync h:/x ./d", "cat d/x"),
        ("rsync -a host:/srv/docs/ d/", "cat d/x"),
        ("aws s3 cp s3://bucket/x.md .", "cat x.md"),
        ("docker cp web:/srv/x.md .", "cat x.md"),
        ("exec 3<>/dev/tcp/example.org/80; cat <&3 > x.md", "cat x.md"),
    ],
)
def test_a_file_that_was_downloaded_is_foreign_when_it_is_read(earlier: str, later: str) -> None:
    downloads = Downloads()
    assert not downloads.add_command(later)
    downloads.add_command(earlier)
    assert downloads.add_command(later)


def test_other_files_of_the_folder_of_a_download_are_not_foreign() -> None:
    downloads = Downloads()
    downloads.add_command("scp host:/srv/x.md . && scp host:/srv/y.md docs/")
    assert not downloads.add_command("cat README.md docs/guide.md")
    assert not downloads.add_command("cat < /dev/tcp/localhost/80")
