"""The kinds of secrets that figures are reported from; no rule is tuned on them. See `secrets.py`."""

import base64
import json

from benchmarks.secrets import (
    ALPHABETS,
    SEED_WORDS,
    WORDS,
    Half,
    base64_lines,
    base64_value,
    chars,
    each_line,
    edit_payload,
    fill,
    mark,
    mark_lines,
    pem,
    prompt_payload,
    secret_value,
    short,
    tool_payload,
    very_long,
    weak,
    with_digit,
    write_payload,
)

half = Half("report")

half.names += """
passwd pwd mysql_root_password postgres_password rabbitmq_default_pass
mongo_initdb_root_password admin_password root_password bind_password truststore_password
key_password ssl_key_passphrase service_password ftp_password wifi_password mail_password
spring_datasource_password secret client_secret api_secret shared_secret session_secret
cookie_secret webhook_secret secret_key django_secret_key flask_secret_key app_key master_key
hmac_key hmac_secret oauth2_client_secret consumer_key nextauth_secret auth_secret
shared_access_key api_token bot_token service_token personal_access_token session_token
access_key write_token admin_token root_token unseal_key license_secret x_api_key
payment_api_key credentials docker_password npm_auth_token github_token gitlab_token
ci_job_token codecov_token wpa_passphrase snmp_community_secret recovery_key backup_key
minio_root_password minio_secret_key s3_secret_key keycloak_admin_password kibana_password
elasticsearch_password neo4j_password clickhouse_password sa_password oracle_pwd userpass
mypassword old_password default_password otp_secret mfa_secret two_factor_secret salt_secret
aes_secret kms_secret jwt_signing_key rails_master_key lockbox_master_key
""".split()

half.sentences += [
    "Can you try it with ⟨t⟩ and tell me whether it works?",
    "I rotated it this morning, the new one is ⟨t⟩, please put it where it belongs.",
    "the old one (⟨t⟩) still answers, so we should revoke it",
    "Use `⟨t⟩` for the staging account only.",
    'level=debug ts=⟨date⟩T⟨time⟩Z caller=client.go:⟨n:10-900⟩ msg="sending request" auth=⟨t⟩',
    "const client = new Client('⟨t⟩', { timeout: ⟨n:100-9000⟩ });",
    "$ ./bin/login ⟨t⟩\nLogged in as ⟨user⟩.",
    "echo ⟨t⟩ | ./tool login --stdin",
    'echo "⟨t⟩" > ~/.config/tool/auth',
    "  - ⟨t⟩",
    '["⟨t⟩", "⟨region⟩"]',
    "# was: ⟨t⟩",
    "// TODO remove before merge: ⟨t⟩",
    "curl -u ⟨t⟩: https://⟨domain⟩/v2/items",
    'GET /v1/items?limit=20&key=⟨t⟩ HTTP/1.1" 200 ⟨n:100-9000⟩',
    'client := tool.NewClient("⟨t⟩")',
    '+const FALLBACK = "⟨t⟩";',
    '{"event":"login","detail":"⟨t⟩","ok":true}',
    "My notes:\n\n1. open the dashboard\n2. copy ⟨t⟩\n3. run the job again",
    "⟨t⟩",
    'self.session = open_session(self.base, "⟨t⟩", retries=3)',
    '"msg": "non-zero return code", "cmd": ["tool", "push", "⟨t⟩"]',
]

half.assignments += [
    'export ⟨NAME⟩="⟨t⟩"',
    "⟨NAME⟩: ⟨t⟩",
    '⟨name⟩: "⟨t⟩"',
    'const ⟨camel⟩ = "⟨t⟩";',
    "⟨NAME⟩ = '⟨t⟩'",
    'os.environ["⟨NAME⟩"] = "⟨t⟩"',
    "process.env.⟨NAME⟩ = '⟨t⟩';",
    'private static final String ⟨NAME⟩ = "⟨t⟩";',
    "--⟨kebab⟩ ⟨t⟩",
]


# --- cloud ---

half.token("aws-bedrock-key", "cloud", "ABSKQmVkcm9ja0FQSUtleS⟨b:100-112⟩=")
half.token("gcp-access-token", "cloud", "ya29.⟨bu:160-240⟩", "ya29.c.⟨bu:400-800⟩")
half.token("gcp-client-secret", "cloud", "GOCSPX-⟨bu:28⟩")
half.token("gcp-refresh-token", "cloud", "1//0⟨an:1⟩⟨bu:96-110⟩")
half.named(
    "azure-devops-pat",
    "cloud",
    "AZURE_DEVOPS_EXT_PAT SYSTEM_ACCESSTOKEN",
    "⟨l:52⟩",
    "⟨an:75⟩JQQJ99BCACAAAAA⟨an:20⟩",
)
half.token("digitalocean-pat", "cloud", "dop_v1_⟨h:64⟩")
half.token("alibaba-key-id", "cloud", "LTAI5t⟨an:18⟩")
half.token("cloudflare-global-key", "cloud", "cfk_⟨an:40⟩⟨h:8⟩")
half.named("cloudflare-legacy-token", "cloud", "CLOUDFLARE_API_TOKEN CF_API_TOKEN", "⟨bu:40⟩")
half.token("tencent-secret-id", "cloud", "AKID⟨an:32⟩")

# --- code host ---

half.token("github-fine-grained", "code host", "github_pat_⟨an:22⟩_⟨an:59⟩")
half.token("gitlab-trigger", "code host", "glptt-⟨h:40⟩")
half.token("bitbucket-app-password", "code host", "ATBB⟨an:32⟩")
half.token("bitbucket-access-token", "code host", "ATCTT3xFfGN0⟨bu:160-180⟩=⟨H:8⟩")
half.token("sourcegraph-token", "code host", "sgp_⟨h:16⟩_⟨h:40⟩", "slk_⟨h:64⟩")

# --- ci ---

half.token("circleci-pat", "ci", "CCIPAT_⟨an:22⟩_⟨h:40⟩", "CCIPRJ_⟨an:22⟩_⟨h:40⟩")
half.named("codecov-upload", "ci", "CODECOV_TOKEN", "⟨uuid⟩")
half.token("terraform-cloud", "ci", "⟨an:14⟩.atlasv1.⟨an:67⟩")
half.token("pulumi-token", "ci", "pul-⟨h:40⟩")
half.token("sonar-token", "ci", "squ_⟨h:40⟩", "sqp_⟨h:40⟩", "sqa_⟨h:40⟩")
half.token("doppler-token", "ci", "dp.pt.⟨an:43⟩", "dp.st.dev.⟨an:43⟩", "dp.sa.⟨an:40⟩")
half.token("vault-batch", "ci", "hvb.⟨bu:138-300⟩")
half.token("onepassword-service", "ci", "ops_eyJ⟨b:300-700⟩")
half.token("onepassword-secret-key", "ci", "A3-⟨u:6⟩-⟨u:6⟩-⟨u:5⟩-⟨u:5⟩-⟨u:5⟩-⟨u:5⟩")
half.named("bitwarden-access", "ci", "BWS_ACCESS_TOKEN", "0.⟨uuid⟩.⟨an:30⟩:⟨b:22⟩==")
half.named("travis-token", "ci", "TRAVIS_TOKEN TRAVIS_API_TOKEN", "⟨bu:22⟩")

# --- registry ---

half.token("npm-token", "registry", "npm_⟨an:36⟩")
half.token("crates-token", "registry", "cio⟨an:32⟩")
half.token("dockerhub-oat", "registry", "dckr_oat_⟨bu:32⟩")
half.named("quay-password", "registry", "QUAY_PASSWORD", "⟨u:64⟩")
half.token("packagist-token", "registry", "packagist_⟨lo:3⟩_⟨h:68⟩")

# --- llm ---

half.token("anthropic-admin", "llm", "sk-ant-admin01-⟨bu:93⟩AA")
half.token("openai-project", "llm", "sk-proj-⟨bu:74⟩T3BlbkFJ⟨bu:74⟩")
half.token("openai-legacy", "llm", "sk-⟨an:20⟩T3BlbkFJ⟨an:20⟩")
half.token(
    "openai-service", "llm", "sk-svcacct-⟨bu:74⟩T3BlbkFJ⟨bu:74⟩", "sk-admin-⟨bu:74⟩T3BlbkFJ⟨bu:74⟩"
)
half.token("groq-key", "llm", "gsk_⟨an:52⟩")
half.token("xai-key", "llm", "xai-⟨an:80⟩")
half.named("cohere-key", "llm", "COHERE_API_KEY CO_API_KEY", "⟨an:40⟩")
half.token("together-key", "llm", "tgp_v1_⟨bu:43⟩")
half.token("deepseek-key", "llm", "sk-⟨h:32⟩")
half.token("nvidia-key", "llm", "nvapi-⟨bu:64⟩")
half.token("voyage-key", "llm", "pa-⟨bu:43⟩")
half.token("langsmith-key", "llm", "lsv2_pt_⟨h:32⟩_⟨h:10⟩", "lsv2_sk_⟨h:32⟩_⟨h:10⟩")
half.named("deepgram-key", "llm", "DEEPGRAM_API_KEY", "⟨h:40⟩")
half.token("jina-key", "llm", "jina_⟨h:32⟩⟨bu:28⟩")
half.token("e2b-key", "llm", "e2b_⟨h:40⟩")
half.named("modal-secret", "llm", "MODAL_TOKEN_SECRET", "as-⟨an:22⟩")
half.token("gemini-new-key", "llm", "AQ.Ab8RN6⟨bu:44⟩")
half.token("cursor-key", "llm", "key_⟨h:64⟩")
half.named("qdrant-key", "llm", "QDRANT_API_KEY QDRANT__SERVICE__API_KEY", "⟨bu:54⟩", "⟨jwt⟩")
half.named("exa-key", "llm", "EXA_API_KEY", "⟨uuid⟩")

# --- payment ---

half.token("stripe-live", "payment", "sk_live_⟨an:24⟩", "sk_live_51⟨an:97⟩")
half.token("stripe-restricted", "payment", "rk_live_⟨an:24⟩", "rk_live_51⟨an:97⟩")
half.token("stripe-test", "payment", "sk_test_51⟨an:97⟩")
half.token("braintree-token", "payment", "access_token$production$⟨l:16⟩$⟨|⟩⟨h:32⟩")
half.token("square-token", "payment", "EAAA⟨bu:60⟩", "sq0atp-⟨bu:22⟩")
half.token("square-secret", "payment", "sq0csp-⟨bu:43⟩")
half.token("shopify-access", "payment", "shpat_⟨h:32⟩", "shpca_⟨h:32⟩")
half.token("shopify-secret", "payment", "shpss_⟨h:32⟩", "shppa_⟨h:32⟩")
half.token("mollie-key", "payment", "live_⟨an:30⟩")
half.token("paystack-key", "payment", "sk_live_⟨h:40⟩")
half.token("gocardless-token", "payment", "live_⟨bu:40⟩")
half.token("easypost-key", "payment", "EZAK⟨an:54⟩")

# --- mail ---

half.token("mailgun-key", "mail", "key-⟨h:32⟩")
half.named("mailgun-new-key", "mail", "MAILGUN_API_KEY", "⟨h:32⟩-⟨h:8⟩-⟨h:8⟩")
half.token("mailchimp-key", "mail", "⟨h:32⟩-us⟨n:1-21⟩")
half.token("resend-key", "mail", "re_⟨an:8⟩_⟨an:24⟩")
half.token("mandrill-key", "mail", "md-⟨bu:22⟩")
half.token("klaviyo-key", "mail", "pk_⟨h:34⟩")

# --- messaging ---

half.token("slack-bot", "messaging", "xoxb-⟨d:12⟩-⟨d:13⟩-⟨|⟩⟨an:24⟩")
half.token("slack-user", "messaging", "xoxp-⟨d:12⟩-⟨d:12⟩-⟨d:13⟩-⟨|⟩⟨h:32⟩")
half.token("slack-app", "messaging", "xapp-1-A⟨u:10⟩-⟨d:13⟩-⟨|⟩⟨h:64⟩")
half.token("slack-rotating", "messaging", "xoxe.xoxp-1-⟨an:146-160⟩", "xoxe-1-⟨an:146⟩")
half.token(
    "slack-webhook", "messaging", "https://hooks.slack.com/services/T⟨u:10⟩/B⟨u:10⟩/⟨|⟩⟨an:24⟩"
)
half.token("discord-bot", "messaging", "M⟨an:25⟩.⟨bu:6⟩.⟨bu:38⟩", "O⟨an:25⟩.⟨bu:6⟩.⟨bu:38⟩")
half.token("intercom-token", "messaging", "dG9rO⟨b:53⟩=")

# --- monitoring ---

half.named("datadog-api", "monitoring", "DD_API_KEY DATADOG_API_KEY", "⟨h:32⟩")
half.token("newrelic-user", "monitoring", "NRAK-⟨u:27⟩")
half.token("sentry-user", "monitoring", "sntryu_⟨h:64⟩")
half.token("grafana-service", "monitoring", "glsa_⟨an:32⟩_⟨h:8⟩")
half.token("grafana-cloud", "monitoring", "glc_eyJ⟨b:60-180⟩=")
half.token("honeycomb-key", "monitoring", "hcaik_⟨l:58⟩", "hcamk_⟨l:58⟩")
half.token("dynatrace-token", "monitoring", "dt0c01.⟨b32:24⟩.⟨|⟩⟨b32:64⟩")
half.token("checkly-key", "monitoring", "cu_⟨h:32⟩")
half.named("rollbar-token", "monitoring", "ROLLBAR_ACCESS_TOKEN", "⟨h:32⟩")
half.named("opsgenie-key", "monitoring", "OPSGENIE_API_KEY", "⟨uuid⟩")
half.token("dt-platform-token", "monitoring", "dt0s16.⟨b32:8⟩.⟨|⟩⟨b32:64⟩")

# --- auth ---

half.kind("okta-ssws", "auth")(
    lambda rng: fill(rng, "Authorization: SSWS 00") + mark(fill(rng, "⟨bu:40⟩"))
)
half.named("auth0-secret", "auth", "AUTH0_CLIENT_SECRET", "⟨bu:64⟩")
half.token("clerk-secret", "auth", "sk_live_⟨an:42⟩", "sk_test_⟨an:42⟩")
half.token(
    "jwt-hs256",
    "auth",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ⟨bu:60-300⟩.⟨bu:43⟩",
    "eyJhbGciOiJSUzI1NiIsImtpZCI6Ij⟨an:20⟩In0.eyJ⟨bu:200-700⟩.⟨bu:342⟩",
)
half.named(
    "django-secret", "auth", "SECRET_KEY DJANGO_SECRET_KEY", "django-insecure-⟨l:50⟩", "⟨l:50⟩"
)
half.token("twitter-bearer", "auth", "AAAAAAAAAAAAAAAAAAAAA⟨an:10⟩%3D⟨an:60⟩")
half.token("dropbox-token", "auth", "sl.B⟨bu:134⟩", "sl.u.⟨bu:500-1200⟩")
half.token("notion-token", "auth", "ntn_⟨d:11⟩⟨an:35⟩", "secret_⟨an:43⟩")
half.token("figma-token", "auth", "figd_⟨bu:40⟩")
half.token("contentful-pat", "auth", "CFPAT-⟨bu:43⟩")
half.token("salesforce-session", "auth", "00D⟨an:12⟩!AR⟨an:60⟩.⟨an:40⟩_⟨an:10⟩")
half.token("trello-token", "auth", "ATTA⟨h:72⟩")
half.token("mapbox-secret", "auth", "sk.eyJ1Ijoi⟨an:60-80⟩.⟨bu:22⟩")
half.token("workos-key", "auth", "sk_live_⟨an:70-90⟩")
half.named("nextauth-secret", "auth", "NEXTAUTH_SECRET AUTH_SECRET BETTER_AUTH_SECRET", "⟨b:43⟩=")

# --- database ---

half.token("planetscale-token", "database", "pscale_tkn_⟨bu:43⟩")
half.token("planetscale-password", "database", "pscale_pw_⟨bu:43⟩", "pscale_oauth_⟨bu:43⟩")
half.token("neon-api", "database", "napi_⟨l:64⟩")
half.token("cockroach-key", "database", "CCDB1_⟨an:22⟩_⟨an:40⟩")
half.token("xata-key", "database", "xau_⟨an:32⟩")
half.token("aiven-password", "database", "AVNS_⟨bu:19⟩")
half.named(
    "confluent-secret",
    "database",
    "CONFLUENT_CLOUD_API_SECRET KAFKA_API_SECRET",
    "cflt⟨b:60⟩",
    "⟨b:64⟩",
)
half.named("influx-token", "database", "INFLUX_TOKEN INFLUXDB_TOKEN", "⟨bu:86⟩==")
half.token("dbt-token", "database", "dbtc_⟨bu:45⟩", "dbtu_⟨bu:40⟩")
half.token("tinybird-token", "database", "p.eyJ1IjogI⟨bu:90⟩.⟨bu:43⟩")
half.kind("elastic-apikey-header", "database")(
    lambda rng: (
        fill(rng, "curl -XGET https://⟨host⟩:9200/_cat/indices -H 'Authorization: ApiKey ")
        + mark(fill(rng, "⟨an:58⟩=="))
        + "'"
    )
)
half.kind("mongodb-atlas-url", "database")(
    lambda rng: (
        fill(rng, "mongodb+srv://⟨user⟩:")
        + mark(fill(rng, "⟨an:16⟩"))
        + fill(rng, "@cluster0.⟨l:5⟩.mongodb.net/⟨db⟩?retryWrites=true&w=majority")
    )
)

# --- deploy ---

half.named("vercel-token", "deploy", "VERCEL_TOKEN", "⟨an:24⟩", "vcp_⟨an:56⟩")
half.token("netlify-token", "deploy", "nfp_⟨an:36⟩")
half.token("heroku-key", "deploy", "HRKU-AA⟨bu:58⟩")
half.token("prefect-key", "deploy", "pnu_⟨an:36⟩", "pnb_⟨an:36⟩")
half.kind("kubeconfig-key-data", "deploy", wrapped=False)(
    lambda rng: (
        fill(
            rng,
            "users:\n- name: kubernetes-admin\n  user:\n    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ",
        )
        + mark(fill(rng, "⟨b:2200⟩=="))
    )
)
half.token("k3s-token", "deploy", "K10⟨h:64⟩::server:⟨|⟩⟨h:32⟩")
half.kind("kubeadm-join", "deploy")(
    lambda rng: (
        fill(rng, "kubeadm join ⟨ip⟩:6443 --token ")
        + mark(fill(rng, "⟨l:6⟩.⟨l:16⟩"))
        + fill(rng, " --discovery-token-ca-cert-hash sha256:⟨h:64⟩")
    )
)
half.token("swarm-token", "deploy", "SWMTKN-1-⟨l:50⟩-⟨l:25⟩")
half.token("rancher-token", "deploy", "token-⟨l:5⟩:⟨|⟩⟨l:54⟩")
half.named("consul-token", "deploy", "CONSUL_HTTP_TOKEN NOMAD_TOKEN", "⟨uuid⟩")

# --- wallet ---

half.named(
    "bitcoin-wif", "wallet", "BTC_WIF wif WALLET_PRIVATE_KEY", "5⟨b58:50⟩", "K⟨b58:51⟩", "L⟨b58:51⟩"
)
half.token("bip32-xprv", "wallet", "xprv9s21ZrQH143K⟨b58:95⟩")
half.kind("seed-phrase-prose", "wallet")(
    lambda rng: (
        rng.choice(("my seed phrase is ", "the recovery phrase of the test wallet: ", "mnemonic: "))
        + mark(" ".join(rng.sample(SEED_WORDS, 12)))
    )
)
half.token("infura-url", "wallet", "https://mainnet.infura.io/v3/⟨h:32⟩")
half.token("alchemy-url", "wallet", "https://eth-mainnet.g.alchemy.com/v2/⟨bu:32⟩")

# --- config ---

half.context(
    "dotenv-commented", "config", "# ⟨NAME⟩=⟨v⟩", "#⟨NAME⟩=⟨v⟩ # old, do not use", values="bare"
)
half.context(
    "yaml-quoted",
    "config",
    'smtp:\n  host: ⟨host⟩\n  ⟨camel⟩: "⟨v⟩"',
    "  ⟨name⟩: '⟨v⟩'  # rotate in June",
)
half.context(
    "yaml-block", "config", "⟨name⟩: |\n  ⟨v⟩\nregion: ⟨region⟩", "⟨name⟩: >-\n  ⟨v⟩", values="bare"
)
half.context(
    "yaml-folded-list", "config", "environment:\n  - TZ=UTC\n  - ⟨NAME⟩=⟨v⟩", values="bare"
)
half.context(
    "toml", "config", '[database]\nuser = "⟨user⟩"\n⟨name⟩ = "⟨v⟩"', "[auth]\n⟨kebab⟩ = '⟨v⟩'"
)
half.context("toml-inline", "config", 'db = { host = "⟨host⟩", ⟨name⟩ = "⟨v⟩", port = ⟨n⟩ }')
half.context(
    "ini",
    "config",
    "[⟨service⟩]\nuser = ⟨user⟩\n⟨name⟩ = ⟨v⟩\ntimeout = 30",
    "[default]\n⟨name⟩=⟨v⟩",
    values="bare",
)
half.context("properties-colon", "config", "app.⟨dotted⟩: ⟨v⟩", values="bare")
half.context(
    "xml-element",
    "config",
    "<server>\n  <id>⟨service⟩</id>\n  <username>⟨user⟩</username>\n  <⟨camel⟩>⟨v⟩</⟨camel⟩>\n</server>",
    values="plain",
)
half.context(
    "xml-key-value",
    "config",
    '<add key="⟨Pascal⟩" value="⟨v⟩" />',
    '<property name="⟨camel⟩" value="⟨v⟩"/>',
    values="bare",
)
half.context(
    "json-nested-value",
    "config",
    '{"Name": "⟨NAME⟩", "Value": "⟨v⟩"}',
    '{"key": "⟨name⟩", "value": "⟨v⟩"}',
)
half.context(
    "json-twice-in-json",
    "config",
    '"{\\"event\\":\\"{\\\\\\"⟨camel⟩\\\\\\":\\\\\\"⟨v⟩\\\\\\"}\\"}"',
    values="bare",
)
half.context("jsonc", "config", '{\n  // ⟨env⟩ only\n  "⟨camel⟩": "⟨v⟩", /* ask ops */\n}')
half.context("tfvars", "config", 'region      = "⟨region⟩"\n⟨name⟩ = "⟨v⟩"')
half.context(
    "docker-inspect-env",
    "config",
    '"Env": [\n    "PATH=/usr/bin:/bin",\n    "⟨NAME⟩=⟨v⟩"\n]',
    values="word",
)
half.context(
    "kubernetes-secret",
    "config",
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: ⟨service⟩\nstringData:\n  ⟨kebab⟩: "⟨v⟩"',
)
half.kind("kubernetes-secret-data", "config")(
    lambda rng: (
        fill(rng, "apiVersion: v1\nkind: Secret\ntype: Opaque\ndata:\n  ⟨word⟩-password: ")
        + mark(fill(rng, "⟨b:30⟩=="))
        + fill(rng, "\n  username: YWRtaW4=\nmetadata:\n  name: ⟨service⟩")
    )
)
half.context(
    "ansible-vars", "config", "⟨host⟩ ansible_user=⟨user⟩ ⟨name⟩=⟨v⟩ ansible_port=22", values="bare"
)
half.context(
    "github-workflow-env",
    "config",
    "      - name: Deploy\n        run: ./deploy.sh\n        env:\n          ⟨NAME⟩: ⟨v⟩",
    values="plain",
)
half.context(
    "jenkins-env",
    "config",
    "environment {\n    ⟨NAME⟩ = '⟨v⟩'\n}",
    "withEnv(['⟨NAME⟩=⟨v⟩']) {",
    values="word",
)
half.context(
    "nginx-directive", "config", 'proxy_set_header X-Api-Key "⟨v⟩";', 'fastcgi_param ⟨NAME⟩ "⟨v⟩";'
)
half.context(
    "redis-conf",
    "config",
    "bind 127.0.0.1\nrequirepass ⟨v⟩\nmaxmemory 2gb",
    "masterauth ⟨v⟩",
    values="word",
)
half.context("nix-attribute", "config", '  ⟨camel⟩ = "⟨v⟩";', values="word")
half.context("edn-config", "config", '{:host "⟨host⟩" :⟨kebab⟩ "⟨v⟩"}')
half.context("openvpn-auth", "config", "auth-user-pass:\n⟨user⟩\n⟨name⟩: ⟨v⟩", values="bare")
half.context(
    "log-settings-dump",
    "config",
    "⟨date⟩ ⟨time⟩ ⟨level⟩ Settings(host='⟨host⟩', ⟨name⟩='⟨v⟩', debug=True)",
    "⟨date⟩T⟨time⟩Z ⟨level⟩ config loaded user=⟨user⟩ ⟨name⟩=⟨v:bare⟩ region=⟨region⟩",
)

# --- code ---

half.context(
    "python-constant", "code", '⟨NAME⟩ = "⟨v⟩"', "⟨NAME⟩: Final = '⟨v⟩'", '⟨name⟩ = b"⟨v:word⟩"'
)
half.context(
    "python-environ-default",
    "code",
    '⟨name⟩ = os.environ.get("⟨NAME⟩", "⟨v⟩")',
    "⟨NAME⟩ = os.getenv('⟨NAME⟩', '⟨v⟩')",
    '⟨name⟩ = config("⟨NAME⟩", default="⟨v⟩")',
)
half.context(
    "python-keyword",
    "code",
    'conn = psycopg.connect(host="⟨host⟩", user="⟨user⟩", ⟨name⟩="⟨v⟩")',
    "s = Session(⟨name⟩='⟨v⟩', verify=False)",
)
half.context(
    "python-default-argument",
    "code",
    'def connect(host: str, ⟨name⟩: str = "⟨v⟩") -> None:',
    "def login(user, ⟨name⟩='⟨v⟩'):",
)
half.context(
    "python-comparison",
    "code",
    'if ⟨name⟩ == "⟨v⟩":\n    return True',
    "assert settings.⟨name⟩ == '⟨v⟩'",
)
half.context(
    "js-const",
    "code",
    "const ⟨camel⟩ = '⟨v⟩';",
    'let ⟨camel⟩ = "⟨v⟩"',
    "export const ⟨NAME⟩ = `⟨v:word⟩`;",
)
half.context(
    "js-object",
    "code",
    "module.exports = { user: '⟨user⟩', ⟨camel⟩: '⟨v⟩' };",
    'new Pool({ host: "⟨host⟩", ⟨camel⟩: "⟨v⟩", port: ⟨n⟩ })',
)
half.context(
    "ts-class-field",
    "code",
    "  private readonly ⟨camel⟩: string = '⟨v⟩';",
    'static ⟨camel⟩ = "⟨v⟩";',
)
half.context(
    "java-field", "code", 'private static final String ⟨NAME⟩ = "⟨v⟩";', 'String ⟨camel⟩ = "⟨v⟩";'
)
half.context(
    "java-setter",
    "code",
    'config.set⟨Pascal⟩("⟨v⟩");',
    'ds.setPassword("⟨v⟩");',
    'builder.⟨camel⟩("⟨v⟩").build();',
)
half.context(
    "java-driver-manager",
    "code",
    'DriverManager.getConnection("jdbc:mysql://⟨host⟩/⟨db⟩", "⟨user⟩", "⟨v⟩");',
)
half.context(
    "kotlin-val", "code", 'val ⟨camel⟩ = "⟨v⟩"', 'const val ⟨NAME⟩: String = "⟨v⟩"', values="word"
)
half.context(
    "go-const",
    "code",
    'const ⟨camel⟩ = "⟨v⟩"',
    '⟨camel⟩ := "⟨v⟩"',
    "var ⟨Pascal⟩ string = `⟨v:word⟩`",
)
half.context(
    "rust-let",
    "code",
    'let ⟨name⟩ = "⟨v⟩";',
    'const ⟨NAME⟩: &str = "⟨v⟩";',
    'let ⟨name⟩ = String::from("⟨v⟩");',
)
half.context(
    "csharp-field",
    "code",
    'private const string ⟨Pascal⟩ = "⟨v⟩";',
    'public string ⟨Pascal⟩ { get; set; } = "⟨v⟩";',
    'var ⟨camel⟩ = @"⟨v⟩";',
)
half.context(
    "cpp-constexpr", "code", 'constexpr auto k⟨Pascal⟩ = "⟨v⟩";', 'std::string ⟨name⟩{"⟨v⟩"};'
)
half.context(
    "php-variable",
    "code",
    "$⟨name⟩ = '⟨v⟩';",
    "$config['⟨name⟩'] = \"⟨v:word⟩\";",
    "'⟨name⟩' => env('⟨NAME⟩', '⟨v⟩'),",
    "putenv('⟨NAME⟩=⟨v⟩');",
)
half.context(
    "ruby-hash",
    "code",
    "{ user: '⟨user⟩', ⟨name⟩: '⟨v⟩' }",
    ':⟨name⟩ => "⟨v⟩",',
    "ENV['⟨NAME⟩'] ||= '⟨v⟩'",
)
half.context(
    "ruby-fetch",
    "code",
    "⟨name⟩ = ENV.fetch('⟨NAME⟩', '⟨v⟩')",
    '⟨name⟩ = ENV.fetch("⟨NAME⟩") { "⟨v:word⟩" }',
)
half.context(
    "perl-variable",
    "code",
    "my $⟨name⟩ = '⟨v⟩';",
    "⟨name⟩ => '⟨v⟩',",
    "DBI->connect(\"dbi:Pg:dbname=⟨db⟩\", '⟨user⟩', '⟨v⟩');",
)
half.context(
    "objc-define", "code", 'static NSString *const k⟨Pascal⟩ = @"⟨v⟩";', '#define k⟨Pascal⟩ @"⟨v⟩"'
)
half.context("scala-val", "code", 'val ⟨camel⟩ = "⟨v⟩"', '  ⟨camel⟩ = "⟨v⟩",', values="word")
half.context("clojure-def", "code", '(def ⟨kebab⟩ "⟨v⟩")', '(assoc cfg :⟨kebab⟩ "⟨v⟩")')
half.context("haskell-binding", "code", '⟨camel⟩ = "⟨v⟩"', '⟨camel⟩ :: Text\n⟨camel⟩ = "⟨v⟩"')
half.context("vb-dim", "code", 'Dim ⟨camel⟩ As String = "⟨v⟩"', 'Const ⟨NAME⟩ = "⟨v⟩"')
half.context(
    "sql-create-user",
    "code",
    "CREATE USER ⟨user⟩ WITH ENCRYPTED PASSWORD '⟨v⟩';",
    "ALTER ROLE ⟨user⟩ PASSWORD '⟨v⟩';",
    "CREATE ROLE ⟨user⟩ LOGIN PASSWORD '⟨v⟩' VALID UNTIL 'infinity';",
)
half.context(
    "test-fixture",
    "code",
    '    def setUp(self):\n        self.⟨name⟩ = "⟨v⟩"\n        self.client.login(username="⟨user⟩", password="⟨v⟩")',
)
half.context(
    "assertion-message",
    "code",
    "E       AssertionError: assert {'⟨name⟩': '⟨v⟩', 'user': '⟨user⟩'} == {'user': '⟨user⟩'}",
)

# --- shell ---

half.context(
    "bash-export",
    "shell",
    "export ⟨NAME⟩=⟨v:bare⟩ && ./run.sh",
    "export ⟨NAME⟩='⟨v⟩'",
    'declare -x ⟨NAME⟩="⟨v:word⟩"',
    "readonly ⟨NAME⟩='⟨v⟩'",
)
half.context(
    "bash-prefix",
    "shell",
    "⟨NAME⟩=⟨v:bare⟩ make deploy",
    "cd /srv && ⟨NAME⟩='⟨v⟩' ./manage.py migrate",
    "env ⟨NAME⟩=⟨v:bare⟩ python app.py",
)
half.context(
    "fish-set",
    "shell",
    "set -x ⟨NAME⟩ ⟨v⟩",
    'set -gx ⟨NAME⟩ "⟨v⟩"',
    "set -Ux ⟨NAME⟩ '⟨v⟩'",
    values="bare",
)
half.context(
    "powershell-setter",
    "shell",
    "[Environment]::SetEnvironmentVariable('⟨NAME⟩', '⟨v⟩', 'User')",
    "Set-Item -Path Env:⟨NAME⟩ -Value '⟨v⟩'",
    values="word",
)
half.context(
    "cmd-set", "shell", "set ⟨NAME⟩=⟨v⟩", 'setx ⟨NAME⟩ "⟨v⟩"', 'SET "⟨NAME⟩=⟨v⟩"', values="plain"
)
half.context(
    "echo-append",
    "shell",
    'echo "⟨NAME⟩=⟨v⟩" >> .env',
    "printf '%s\\n' '⟨NAME⟩=⟨v⟩' >> /etc/environment",
    values="bare",
)
half.context(
    "sed-replacement",
    "shell",
    "sed -i 's/^⟨NAME⟩=.*/⟨NAME⟩=⟨v⟩/' .env",
    'sed -i "s|⟨name⟩: .*|⟨name⟩: ⟨v⟩|" config.yml',
    values="plain",
)
half.context(
    "chpasswd",
    "shell",
    "echo '⟨user⟩:⟨v⟩' | chpasswd",
    'echo "⟨user⟩:⟨v⟩" | sudo chpasswd',
    values="bare",
)

# --- cli ---

half.context(
    "mysql-option",
    "cli",
    "mysql -h ⟨host⟩ -u ⟨user⟩ -p⟨v:plain⟩ ⟨db⟩",
    "mysqldump -u⟨user⟩ -p'⟨v⟩' ⟨db⟩ > dump.sql",
    "mysql --user=⟨user⟩ --password=⟨v:plain⟩ -e 'select 1'",
    "mysqladmin -u root -p'⟨v⟩' status",
)
half.context(
    "psql-env",
    "cli",
    "PGPASSWORD=⟨v:bare⟩ psql -h ⟨host⟩ -U ⟨user⟩ ⟨db⟩",
    "PGPASSWORD='⟨v⟩' pg_dump -h ⟨host⟩ ⟨db⟩",
)
half.context(
    "curl-user",
    "cli",
    "curl -u ⟨user⟩:⟨v⟩ https://⟨domain⟩/api",
    "curl --user '⟨user⟩:⟨v⟩' https://⟨domain⟩/api",
    'curl -sS -u "⟨user⟩:⟨v⟩" -X POST https://⟨domain⟩/hook',
    values="bare",
)
half.context(
    "httpie-auth",
    "cli",
    "http -a ⟨user⟩:⟨v⟩ GET https://⟨domain⟩/items",
    "http POST https://⟨domain⟩/login ⟨name⟩=⟨v⟩",
    "https --auth ⟨user⟩:⟨v⟩ ⟨domain⟩/x",
    values="bare",
)
half.context(
    "redis-auth-command",
    "cli",
    "127.0.0.1:6379> AUTH ⟨v⟩\nOK",
    "AUTH default ⟨v⟩",
    "CONFIG SET requirepass ⟨v⟩",
    values="bare",
)
half.context(
    "docker-run-env",
    "cli",
    "docker run --rm -e ⟨NAME⟩=⟨v⟩ -e TZ=UTC acme/⟨service⟩:1.2",
    "docker run --env ⟨NAME⟩=⟨v⟩ postgres:17",
    "podman run -e '⟨NAME⟩=⟨v⟩' redis",
    values="bare",
)
half.context(
    "kubectl-create-secret",
    "cli",
    "kubectl create secret generic ⟨service⟩ --from-literal=⟨kebab⟩=⟨v⟩ -n ⟨env⟩",
    "kubectl create secret docker-registry reg --docker-username=⟨user⟩ --docker-password=⟨v⟩",
    "kubectl set env deploy/⟨service⟩ ⟨NAME⟩=⟨v⟩",
    values="bare",
)
half.context(
    "sshpass",
    "cli",
    "sshpass -p '⟨v⟩' ssh ⟨user⟩@⟨host⟩ uptime",
    "sshpass -p ⟨v⟩ scp dump.sql ⟨user⟩@⟨host⟩:/tmp",
    "SSHPASS=⟨v⟩ sshpass -e ssh ⟨host⟩",
    values="bare",
)
half.context(
    "long-option",
    "cli",
    "./tool --user ⟨user⟩ --⟨kebab⟩ ⟨v⟩ sync",
    "tool sync --⟨kebab⟩='⟨v⟩' --verbose",
    'app.py --⟨kebab⟩ "⟨v⟩"',
    values="bare",
)
half.context(
    "java-system-property",
    "cli",
    "java -D⟨dotted⟩=⟨v⟩ -jar app.jar",
    "mvn deploy -D⟨camel⟩=⟨v⟩",
    "./gradlew publish -P⟨camel⟩=⟨v⟩",
    values="bare",
)
half.context(
    "keytool",
    "cli",
    "keytool -genkey -alias app -keystore app.jks -storepass ⟨v⟩ -keypass ⟨v⟩",
    "keytool -importcert -storepass '⟨v⟩' -noprompt",
    values="bare",
)
half.context(
    "openssl-pass",
    "cli",
    "openssl rsa -in key.pem -passin pass:⟨v⟩ -out plain.pem",
    "openssl enc -aes-256-cbc -k '⟨v⟩' -in a -out b",
    "openssl pkcs12 -export -passout pass:⟨v⟩ -in c.pem",
    values="bare",
)
half.context(
    "zip-password",
    "cli",
    "unzip -P ⟨v⟩ backup.zip",
    "7z x -p⟨v⟩ backup.7z",
    "zip -P '⟨v⟩' out.zip data",
    values="plain",
)
half.context(
    "gpg-passphrase",
    "cli",
    "gpg --batch --passphrase '⟨v⟩' -d secrets.gpg",
    "gpg --pinentry-mode loopback --passphrase ⟨v⟩ --sign a",
    values="bare",
)
half.context(
    "ldapsearch",
    "cli",
    "ldapsearch -x -H ldap://⟨host⟩ -D cn=admin,dc=corp -w ⟨v⟩ -b dc=corp",
    "ldapadd -x -D cn=admin -w '⟨v⟩' -f a.ldif",
    values="bare",
)
half.context(
    "sqlcmd",
    "cli",
    "sqlcmd -S ⟨host⟩ -U sa -P '⟨v⟩' -Q 'select 1'",
    "bcp t out f -S ⟨host⟩ -U sa -P ⟨v⟩",
    values="bare",
)
half.context(
    "vault-kv-put",
    "cli",
    "vault kv put secret/⟨service⟩ ⟨name⟩=⟨v⟩",
    "vault login ⟨v⟩",
    "aws ssm put-parameter --name /app/⟨name⟩ --type SecureString --value '⟨v⟩'",
    values="bare",
)
half.context(
    "gh-secret-set",
    "cli",
    "gh secret set ⟨NAME⟩ --body '⟨v⟩'",
    "gh secret set ⟨NAME⟩ -b ⟨v⟩",
    "flyctl secrets set ⟨NAME⟩=⟨v⟩",
    "heroku config:set ⟨NAME⟩=⟨v⟩",
    values="bare",
)
half.context(
    "aws-configure",
    "cli",
    "aws configure set aws_secret_access_key ⟨v⟩",
    "aws secretsmanager put-secret-value --secret-id db --secret-string '⟨v⟩'",
    values="bare",
)
half.context(
    "npm-config-set",
    "cli",
    "npm config set //npm.⟨domain⟩/:_authToken ⟨v⟩",
    "yarn config set npmAuthToken ⟨v⟩",
    values="token",
)
half.context(
    "ansible-extra-vars",
    "cli",
    "ansible-playbook site.yml -e '⟨name⟩=⟨v⟩'",
    'ansible-playbook site.yml --extra-vars "⟨name⟩=⟨v⟩ region=⟨region⟩"',
    values="bare",
)
half.context(
    "terraform-var",
    "cli",
    "terraform apply -var '⟨name⟩=⟨v⟩' -auto-approve",
    "TF_VAR_⟨name⟩=⟨v⟩ terraform plan",
    values="bare",
)
half.context(
    "createuser-cli",
    "cli",
    "net user ⟨user⟩ ⟨v⟩ /add",
    "useradd -p '⟨v⟩' ⟨user⟩",
    "gcloud sql users create ⟨user⟩ --instance=db --password=⟨v⟩",
    values="bare",
)

# --- url ---

half.context(
    "postgres-url",
    "url",
    "postgres://⟨user⟩:⟨v⟩@⟨host⟩:5432/⟨db⟩",
    "DATABASE_URL=postgresql://⟨user⟩:⟨v⟩@⟨host⟩/⟨db⟩?sslmode=require",
    values="url",
)
half.context(
    "mongodb-url",
    "url",
    "mongodb://⟨user⟩:⟨v⟩@⟨host⟩:27017,⟨host⟩:27018/⟨db⟩?replicaSet=rs0",
    values="url",
)
half.context(
    "https-basic-url",
    "url",
    "https://⟨user⟩:⟨v⟩@⟨domain⟩/repo.git",
    "git clone https://⟨user⟩:⟨v⟩@⟨domain⟩/acme/shop.git",
    values="url",
)
half.context(
    "smtp-url",
    "url",
    "smtp://⟨user⟩:⟨v⟩@⟨host⟩:587",
    "EMAIL_URL=smtps://⟨user⟩:⟨v⟩@⟨host⟩:465",
    values="url",
)
half.context(
    "proxy-url",
    "url",
    "http_proxy=http://⟨user⟩:⟨v⟩@proxy.⟨domain⟩:3128",
    "HTTPS_PROXY=http://⟨user⟩:⟨v⟩@⟨ip⟩:8080",
    values="url",
)
half.context(
    "libpq-dsn",
    "url",
    "host=⟨host⟩ port=5432 dbname=⟨db⟩ user=⟨user⟩ password=⟨v⟩ sslmode=require",
    'psql "host=⟨host⟩ user=⟨user⟩ password=⟨v⟩"',
    values="bare",
)
half.context(
    "query-signature",
    "url",
    "https://⟨domain⟩/file.zip?Expires=1767225600&Signature=⟨v⟩&Key-Pair-Id=K2",
    "https://⟨domain⟩/reset?secret=⟨v⟩",
    values="token",
)
half.context(
    "oauth-fragment",
    "url",
    "https://⟨domain⟩/callback#access_token=⟨v⟩&token_type=bearer&expires_in=3600",
    "GET /oauth/callback?code=4%2F0&client_secret=⟨v⟩ HTTP/1.1",
    values="token",
)
half.kind("url-encoded-password", "url")(
    lambda rng: (
        fill(rng, "postgres://⟨user⟩:")
        + mark(fill(rng, "⟨an:5⟩%40⟨an:4⟩%23⟨an:3⟩%2F⟨an:4⟩%21"))
        + fill(rng, "@⟨host⟩/⟨db⟩")
    )
)
half.kind("url-long-password", "url")(
    lambda rng: (
        fill(rng, "redis://default:") + mark(very_long(rng, "url")) + fill(rng, "@⟨host⟩:6379")
    )
)
half.kind("url-short-password", "url")(
    lambda rng: fill(rng, "amqp://⟨user⟩:") + mark(short(rng, "url")) + fill(rng, "@⟨host⟩:5672/")
)
half.kind("url-odd-password", "url")(
    lambda rng: (
        fill(rng, "mysql://⟨user⟩:")
        + mark(fill(rng, "⟨an:6⟩@⟨an:5⟩#⟨an:4⟩"))
        + fill(rng, "@⟨host⟩:3306/⟨db⟩")
    )
)
half.context(
    "docker-registry-url",
    "url",
    "https://⟨user⟩:⟨v⟩@registry.⟨domain⟩/v2/",
    "index-url = https://⟨user⟩:⟨v⟩@packages.⟨domain⟩/simple",
    values="url",
)
half.kind("otpauth-url", "url")(
    lambda rng: (
        fill(rng, "otpauth://totp/Acme:⟨mail⟩?secret=")
        + mark(fill(rng, "⟨b32:32⟩"))
        + "&issuer=Acme&digits=6"
    )
)
half.context("sentry-dsn", "url", "https://⟨h:32⟩:⟨v⟩@sentry.⟨domain⟩/42", values="token")

# --- file ---

half.context(
    "npmrc-token",
    "file",
    "@acme:registry=https://npm.⟨domain⟩/\n//npm.⟨domain⟩/:_authToken=⟨v⟩",
    "//npm.⟨domain⟩/:_password=⟨v⟩\n//npm.⟨domain⟩/:username=⟨user⟩",
    values="token",
)
half.context(
    "npmrc-auth",
    "file",
    "registry=https://npm.⟨domain⟩/\n_auth=⟨v⟩\nalways-auth=true",
    values="token",
)
half.context("yarnrc", "file", 'npmScopes:\n  acme:\n    npmAuthToken: "⟨v⟩"', values="token")
half.context(
    "git-credential-fill",
    "file",
    "protocol=https\nhost=⟨domain⟩\nusername=⟨user⟩\npassword=⟨v⟩",
    values="word",
)
half.context(
    "composer-auth",
    "file",
    '{\n  "http-basic": {\n    "repo.⟨domain⟩": {\n      "username": "⟨user⟩",\n      "password": "⟨v⟩"\n    }\n  }\n}',
)
half.context(
    "gradle-properties",
    "file",
    "org.gradle.jvmargs=-Xmx2g\nRELEASE_STORE_PASSWORD=⟨v⟩\n⟨camel⟩=⟨v⟩",
    values="bare",
)
half.context(
    "rclone-conf",
    "file",
    "[remote]\ntype = s3\nsecret_access_key = ⟨v⟩",
    "[box]\ntype = sftp\nuser = ⟨user⟩\npass = ⟨v⟩",
    values="bare",
)
half.context(
    "wp-config",
    "file",
    "define( 'DB_NAME', '⟨db⟩' );\ndefine( 'DB_PASSWORD', '⟨v⟩' );\ndefine( 'AUTH_KEY',         '⟨v⟩' );",
)

# --- header ---

half.context(
    "bearer-header",
    "header",
    "Authorization: Bearer ⟨v⟩",
    "> Authorization: Bearer ⟨v⟩\n> Accept: */*",
    "authorization: bearer ⟨v⟩",
    values="token",
)
half.context(
    "apikey-scheme-header",
    "header",
    "Authorization: ApiKey ⟨v⟩",
    "Authorization: GenieKey ⟨v⟩",
    "Authorization: Key ⟨v⟩",
    values="token",
)
half.context(
    "bare-authorization",
    "header",
    '"Authorization": "⟨v⟩"',
    "authorization: ⟨v⟩",
    "headers['Authorization'] = '⟨v⟩'",
    values="token",
)
half.context(
    "set-cookie",
    "header",
    "Set-Cookie: session=⟨v⟩; Path=/; HttpOnly; Secure",
    "set-cookie: auth_token=⟨v⟩; Max-Age=3600; SameSite=Lax",
    values="token",
)
half.context(
    "cookie-jar",
    "header",
    "# Netscape HTTP Cookie File\n.⟨domain⟩\tTRUE\t/\tTRUE\t1893456000\tsession_token\t⟨v⟩",
    values="token",
)
half.context(
    "fetch-headers",
    "header",
    "fetch(url, { headers: { Authorization: `Bearer ⟨v⟩` } })",
    "headers: { 'x-api-key': '⟨v⟩', accept: '*/*' }",
    values="token",
)
half.context(
    "http-form-body",
    "header",
    "POST /login HTTP/1.1\nContent-Type: application/x-www-form-urlencoded\n\nusername=⟨user⟩&password=⟨v⟩&remember=1",
    values="plain",
)
half.context(
    "grpc-metadata",
    "header",
    "grpcurl -H 'authorization: Bearer ⟨v⟩' ⟨host⟩:50051 list",
    "metadata=[('authorization', 'Bearer ⟨v⟩')]",
    values="token",
)
half.context(
    "har-header",
    "header",
    '{"name": "Authorization", "value": "Bearer ⟨v⟩"}',
    '{"name": "Cookie", "value": "sid=⟨v⟩"}',
    values="token",
)
half.context(
    "url-encoded-json-body",
    "header",
    "payload=%7B%22user%22%3A%22⟨user⟩%22%2C%22password%22%3A%22⟨v⟩%22%7D",
    values="plain",
)

# --- prose ---

half.context(
    "prose-password-is",
    "prose",
    "the password is ⟨v⟩, please use it for the ⟨service⟩ database",
    "Password for ⟨user⟩ is ⟨v⟩",
    'the admin password is "⟨v⟩"',
    values="bare",
)
half.context(
    "prose-password-colon",
    "prose",
    "Here are the credentials:\nuser: ⟨user⟩\npassword: ⟨v⟩",
    "login ⟨user⟩ / password ⟨v⟩",
    "User: ⟨user⟩  Password: ⟨v⟩",
    values="bare",
)
half.context(
    "prose-token-is",
    "prose",
    "my token is ⟨v⟩",
    "api key = ⟨v⟩ for the ⟨env⟩ account",
    "use this API key: ⟨v⟩",
    "The client secret is `⟨v⟩`.",
    values="bare",
)
half.context(
    "prose-set-to",
    "prose",
    "set the ⟨words⟩ to ⟨v⟩ and restart",
    'I changed the ⟨words⟩ to "⟨v⟩" yesterday',
    values="bare",
)
half.context(
    "prose-quoted",
    "prose",
    "log in as ⟨user⟩ with password '⟨v⟩'",
    'connect with the passphrase "⟨v⟩" please',
)
half.context(
    "prose-other-languages",
    "prose",
    "mot de passe : ⟨v⟩",
    "la contraseña es ⟨v⟩",
    "senha: ⟨v⟩",
    "пароль: ⟨v⟩",
    "密码：⟨v⟩",
    "パスワード: ⟨v⟩",
    values="bare",
)
half.context(
    "prose-short-words",
    "prose",
    "pw: ⟨v⟩",
    "pass: ⟨v⟩",
    "user ⟨user⟩ pw ⟨v⟩",
    "creds: ⟨user⟩ / ⟨v⟩",
    values="bare",
)
half.context(
    "prose-temporary",
    "prose",
    "Your temporary password: ⟨v⟩\nPlease change it at first login.",
    "Generated root password: ⟨v⟩",
    "A temporary password is generated for root@localhost: ⟨v⟩",
    values="word",
)
half.context(
    "prose-prompted",
    "prose",
    "Enter password for ⟨user⟩: ⟨v⟩",
    "Password: ⟨v⟩\nLogin successful",
    "[sudo] password for ⟨user⟩: ⟨v⟩",
    values="word",
)
half.context(
    "prose-wifi",
    "prose",
    "the wifi is Office, key ⟨v⟩",
    "WPA key: ⟨v⟩",
    "PIN/secret for the router: ⟨v⟩",
    values="bare",
)

# --- value ---

half.style(
    "value-passphrase-dash", "value", lambda rng: "-".join(rng.sample(WORDS, 5)), passwords=True
)
half.style(
    "value-passphrase-space",
    "value",
    lambda rng: " ".join(rng.sample(WORDS, 5)),
    '⟨name⟩: "⟨v⟩"',
    "⟨NAME⟩='⟨v⟩'",
    '⟨camel⟩ = "⟨v⟩"',
    passwords=True,
)
half.style(
    "value-passphrase-dot",
    "value",
    lambda rng: (
        ".".join(word.capitalize() for word in rng.sample(WORDS, 4)) + str(rng.randint(1, 99))
    ),
    passwords=True,
)
half.style("value-base64", "value", lambda rng: base64_value(rng, "bare"))
half.style("value-hex-upper", "value", lambda rng: chars(rng, ALPHABETS["H"], 40))
half.style(
    "value-symbols",
    "value",
    lambda rng: with_digit(rng, ALPHABETS["an"] + "!@#$%^&*()_+-=[]{}|:?,." * 3, 14, 24),
    '⟨name⟩: "⟨v⟩"',
    "⟨NAME⟩='⟨v⟩'",
    '"⟨camel⟩": "⟨v⟩"',
    passwords=True,
)
half.style(
    "value-escaped-quote",
    "value",
    lambda rng: (
        with_digit(rng, ALPHABETS["an"], 8, 12) + '\\"' + with_digit(rng, ALPHABETS["an"], 8, 12)
    ),
    '"⟨name⟩": "⟨v⟩"',
    '⟨camel⟩ = "⟨v⟩";',
)
half.style(
    "value-with-hash",
    "value",
    lambda rng: with_digit(rng, ALPHABETS["an"] + "####", 14, 24),
    '⟨NAME⟩="⟨v⟩"',
    "⟨name⟩: '⟨v⟩'",
    '"⟨name⟩":"⟨v⟩"',
)
half.style("value-digits", "value", lambda rng: chars(rng, "0123456789", 10, 18), passwords=True)
half.style("value-fernet", "value", lambda rng: chars(rng, ALPHABETS["bu"], 43) + "=")

# --- weak ---

half.style("weak-env", "weak", weak, "⟨NAME⟩=⟨v⟩", "export ⟨NAME⟩=⟨v⟩", passwords=True)
half.style("weak-yaml", "weak", weak, "  ⟨name⟩: ⟨v⟩", '  ⟨camel⟩: "⟨v⟩"', passwords=True)
half.style(
    "weak-url",
    "weak",
    weak,
    "postgres://⟨user⟩:⟨v⟩@⟨host⟩/⟨db⟩",
    "redis://:⟨v⟩@⟨host⟩:6379",
    passwords=True,
)
half.style(
    "weak-sql",
    "weak",
    weak,
    "CREATE USER ⟨user⟩ WITH PASSWORD '⟨v⟩';",
    "IDENTIFIED BY '⟨v⟩'",
    passwords=True,
)
half.style(
    "weak-pin",
    "weak",
    lambda rng: chars(rng, "0123456789", 6),
    "pin: ⟨v⟩",
    'password = "⟨v⟩"',
    "PASSCODE=⟨v⟩",
    passwords=True,
)

# --- out of scope ---

half.kind("table-column", "out of scope", in_scope=False)(
    lambda rng: (
        fill(rng, " user  | password\n-------+----------------\n ⟨user⟩ | ")
        + mark(secret_value(rng, "plain"))
        + "\n(1 row)"
    )
)
half.kind("markdown-table", "out of scope", in_scope=False)(
    lambda rng: (
        fill(rng, "| service | key |\n|---|---|\n| ⟨service⟩ | ")
        + mark(secret_value(rng, "plain"))
        + " |"
    )
)
half.kind("base64-of-json", "out of scope", in_scope=False)(
    lambda rng: mark(
        base64.b64encode(json.dumps({"password": secret_value(rng, "plain")}).encode()).decode()
    )
)
half.kind("bare-hex", "out of scope", in_scope=False)(
    lambda rng: "openssl rand -hex 32\n" + mark(chars(rng, ALPHABETS["h"], 64))
)
half.kind("aligned-columns", "out of scope", in_scope=False)(
    lambda rng: (
        fill(rng, "NAME      TOKEN                VALID\n⟨service⟩   ")
        + mark(secret_value(rng, "plain"))
        + "   yes"
    )
)

# --- key prefix ---

half.prefix("pem-docker-logs-time", "key prefix", "⟨date⟩T⟨time⟩.⟪ms⟫⟨d:6⟩Z ⟪line⟫")
half.prefix("pem-compose-time", "key prefix", "⟨service⟩-1  | ⟨date⟩T⟨time⟩.⟪ms⟫⟨d:6⟩Z ⟪line⟫")
half.prefix("pem-compose-old", "key prefix", "⟨service⟩_1     | ⟪line⟫")
half.prefix("pem-kubectl-prefix", "key prefix", "[pod/⟨service⟩-⟨l:10⟩-⟨l:5⟩/app] ⟪line⟫")
half.prefix("pem-actions", "key prefix", "⟨date⟩T⟨time⟩.⟪ms⟫⟨d:4⟩Z ⟪line⟫")
half.prefix(
    "pem-gh-run-log", "key prefix", "build\tRun ./deploy.sh\t⟨date⟩T⟨time⟩.⟪ms⟫⟨d:4⟩Z ⟪line⟫"
)
half.prefix("pem-gitlab-ci", "key prefix", "⟨date⟩T⟨time⟩.⟪ms⟫⟨d:3⟩Z 01O ⟪line⟫")
half.prefix("pem-cat-n", "key prefix", "⟪i6⟫\t⟪line⟫")
half.prefix("pem-grep-h", "key prefix", "certs/⟨word⟩.key:⟪line⟫")
half.prefix("pem-grep-context", "key prefix", "certs/⟨word⟩.key-⟪i⟫-⟪line⟫")
half.prefix("pem-git-blame", "key prefix", "⟨h:8⟩ (Alice Doe ⟨date⟩ ⟨time⟩ +0100 ⟪i⟫) ⟪line⟫")
half.prefix("pem-diff-removed", "key prefix", "-⟪line⟫")
half.prefix("pem-mail-quote-twice", "key prefix", ">> ⟪line⟫")
half.prefix("pem-code-frame", "key prefix", "  ⟪i⟫ | ⟪line⟫")
half.prefix("pem-git-remote", "key prefix", "remote: ⟪line⟫")
half.prefix("pem-grep-in-container", "key prefix", "⟨service⟩-1  | /certs/⟨word⟩.key:⟪i⟫:⟪line⟫")
half.prefix("pem-ansi-colour", "key prefix", "\x1b[32m+⟪line⟫\x1b[m")

# --- key wrapping ---

half.wrapping("pem-plain", "key wrapping")(
    lambda rng, text: fill(rng, "$ cat ~/.ssh/id_⟨word⟩\n") + text
)
half.wrapping("pem-yaml-block", "key wrapping")(
    lambda rng, text: fill(rng, "tls:\n  cert: ⟨word⟩\n  key: |\n") + each_line(text, "    {}")
)
half.wrapping("pem-env-one-line", "key wrapping")(
    lambda rng, text: (
        rng.choice(("PRIVATE_KEY", "APP_KEY_PEM", "JWT_PRIVATE_KEY"))
        + '="'
        + each_line(text, "{}", "\\n")
        + '\\n"'
    )
)
half.wrapping("pem-env-multi-line", "key wrapping")(
    lambda rng, text: rng.choice(("PRIVATE_KEY", "SIGNING_KEY")) + f'="{text}"\nPORT=8080'
)
half.wrapping("pem-json-crlf-escapes", "key wrapping")(
    lambda rng, text: (
        '{"pem": "' + each_line(text, "{}", "\\r\\n") + '", "id": ' + str(rng.randint(1, 99)) + "}"
    )
)
half.wrapping("pem-json-lines-array", "key wrapping")(
    lambda rng, text: '"key": [\n' + each_line(text, '  "{}"', ",\n") + "\n]"
)
half.wrapping("pem-python-parentheses", "key wrapping")(
    lambda rng, text: rng.choice(("KEY", "PEM")) + " = (\n" + each_line(text, '    "{}\\n"') + "\n)"
)
half.wrapping("pem-python-bytes-repr", "key wrapping")(
    lambda rng, text: ">>> open('key.pem','rb').read()\nb'" + each_line(text, "{}", "\\n") + "\\n'"
)
half.wrapping("pem-python-list-repr", "key wrapping")(
    lambda rng, text: "[" + each_line(text, "'{}\\n'", ", ") + "]"
)
half.wrapping("pem-stringbuilder", "key wrapping")(
    lambda rng, text: (
        "StringBuilder sb = new StringBuilder();\n" + each_line(text, 'sb.append("{}\\n");')
    )
)
half.wrapping("pem-rust-concat", "key wrapping")(
    lambda rng, text: (
        "const KEY: &str = concat!(\n" + each_line(text, '    "{}\\n"', ",\n") + "\n);"
    )
)
half.wrapping("pem-rust-raw", "key wrapping")(lambda rng, text: f'let key = r#"{text}"#;')
half.wrapping("pem-ruby-heredoc", "key wrapping")(
    lambda rng, text: "KEY = <<~PEM\n" + each_line(text, "  {}") + "\nPEM"
)
half.wrapping("pem-csharp-verbatim", "key wrapping")(lambda rng, text: f'var key = @"{text}";')
half.wrapping("pem-perl-dot", "key wrapping")(
    lambda rng, text: "my $key = " + each_line(text, '"{}\\n"', "\n  . ") + ";"
)
half.wrapping("pem-shell-heredoc", "key wrapping")(
    lambda rng, text: (
        f"cat > /etc/ssl/{rng.choice(WORDS)}.key <<'EOF'\n{text}\nEOF\nchmod 600 /etc/ssl/*.key"
    )
)
half.wrapping("pem-shell-echo-lines", "key wrapping")(
    lambda rng, text: each_line(text, 'echo "{}" >> key.pem')
)
half.wrapping("pem-shell-dollar-quote", "key wrapping")(
    lambda rng, text: "KEY=$'" + each_line(text, "{}", "\\n") + "'"
)
half.wrapping("pem-terraform-output", "key wrapping")(
    lambda rng, text: "  + private_key_pem = <<-EOT\n" + each_line(text, "        {}") + "\n    EOT"
)
half.wrapping("pem-toml-multi", "key wrapping")(
    lambda rng, text: f"[signing]\nkey = '''\n{text}\n'''"
)
half.wrapping("pem-xml-cdata", "key wrapping")(
    lambda rng, text: f"<privateKey><![CDATA[{text}]]></privateKey>"
)
half.wrapping("pem-xml-indented", "key wrapping")(
    lambda rng, text: "<key>\n" + each_line(text, "    {}") + "\n</key>"
)
half.wrapping("pem-markdown-fence", "key wrapping")(
    lambda rng, text: f"Here is the key:\n\n```\n{text}\n```\n\nKeep it safe."
)
half.wrapping("pem-quoted-mail", "key wrapping")(
    lambda rng, text: "On Monday Alice wrote:\n" + each_line(text, "> {}") + "\n\nThanks!"
)
half.wrapping("pem-head-n-5", "key wrapping")(
    lambda rng, text: "$ head -n 5 server.key\n" + "\n".join(text.split("\n")[:5])
)
half.wrapping("pem-tail-n-4", "key wrapping")(
    lambda rng, text: "$ tail -n 4 server.key\n" + "\n".join(text.split("\n")[-4:])
)
half.wrapping("pem-log-of-json", "key wrapping")(
    lambda rng, text: (
        fill(rng, '{"ts":"⟨date⟩T⟨time⟩Z","level":"info","msg":"loaded key ')
        + each_line(text, "{}", "\\n")
        + '"}'
    )
)
half.wrapping("pem-after-certificate", "key wrapping")(
    lambda rng, text: (
        "-----BEGIN CERTIFICATE-----\n"
        + base64_lines(rng, 1200)
        + "\n-----END CERTIFICATE-----\n"
        + text
    )
)
half.wrapping("pem-cloud-init", "key wrapping")(
    lambda rng, text: "#cloud-config\nssh_keys:\n  rsa_private: |\n" + each_line(text, "    {}")
)
half.wrapping("pem-one-line-body", "key wrapping")(lambda rng, _: pem(rng, width=100_000))
half.wrapping("pem-html-pre", "key wrapping")(lambda rng, text: f"<pre><code>{text}</code></pre>")
half.wrapping("pem-kubernetes-string-data", "key wrapping")(
    lambda rng, text: "kind: Secret\nstringData:\n  tls.key: |-\n" + each_line(text, "    {}")
)

# --- key payload ---

half.kind("pem-edit-payload", "key payload")(lambda rng: edit_payload(rng, pem(rng)))
half.kind("pem-edit-payload-python", "key payload")(
    lambda rng: edit_payload(rng, "KEY = (\n" + each_line(pem(rng), '    "{}\\n"') + "\n)")
)
half.kind("pem-write-payload", "key payload")(lambda rng: write_payload(rng, pem(rng) + "\n"))
half.kind("pem-prompt-payload", "key payload")(lambda rng: prompt_payload(rng, pem(rng)))
half.kind("pem-multi-edit-payload", "key payload")(
    lambda rng: tool_payload(
        rng,
        "MultiEdit",
        {
            "file_path": "/home/dev/shop/k.py",
            "edits": [{"old_string": "KEY = None", "new_string": f'KEY = """{pem(rng)}"""'}],
        },
        {"ok": True},
    )
)
half.kind("pem-removed-payload", "key payload")(
    lambda rng: tool_payload(
        rng,
        "Edit",
        {"file_path": "/home/dev/shop/k.pem", "old_string": "x", "new_string": "y"},
        {
            "structuredPatch": [
                {
                    "oldStart": 1,
                    "oldLines": 30,
                    "newStart": 1,
                    "newLines": 1,
                    "lines": [*each_line(pem(rng), "-{}").split("\n"), "+removed"],
                }
            ]
        },
    )
)

# --- key type ---

half.kind("pem-with-headers", "key type", wrapped=False)(
    lambda rng: (
        fill(
            rng,
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,⟨H:32⟩\n\n",
        )
        + mark_lines(base64_lines(rng, 1588))
        + "\n-----END RSA PRIVATE KEY-----"
    )
)
half.kind("putty-key", "key type", wrapped=False)(
    lambda rng: (
        "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: rsa-key-20260110\nPublic-Lines: 6\n"
        + base64_lines(rng, 384)
        + "\nPrivate-Lines: 14\n"
        + mark_lines(base64_lines(rng, 880))
        + fill(rng, "\nPrivate-MAC: ⟨h:64⟩")
    )
)
half.kind("wireguard-preshared", "key type")(
    lambda rng: (
        "[Peer]\nPublicKey = "
        + chars(rng, ALPHABETS["b"], 43)
        + "=\nPresharedKey = "
        + mark(chars(rng, ALPHABETS["b"], 43) + "=")
        + "\nAllowedIPs = 0.0.0.0/0"
    )
)
half.kind("jwk-rsa", "key type")(
    lambda rng: (
        '{"kty":"RSA","kid":"'
        + rng.choice(WORDS)
        + '","e":"AQAB","n":"'
        + chars(rng, ALPHABETS["bu"], 342)
        + '","d":"'
        + mark(chars(rng, ALPHABETS["bu"], 342))
        + '","p":"'
        + mark(chars(rng, ALPHABETS["bu"], 171))
        + '","q":"'
        + mark(chars(rng, ALPHABETS["bu"], 171))
        + '"}'
    )
)
half.kind("jwk-oct", "key type")(
    lambda rng: (
        '{"keys":[{"kty":"oct","alg":"HS256","k":"'
        + mark(chars(rng, ALPHABETS["bu"], rng.choice((43, 86))))
        + '"}]}'
    )
)
half.kind("gcp-service-account", "key type", wrapped=False)(
    lambda rng: (
        fill(
            rng,
            '{\n  "type": "service_account",\n  "project_id": "acme-⟨word⟩",\n  "private_key_id": "⟨h:40⟩",\n  "private_key": "-----BEGIN PRIVATE KEY-----\\n',
        )
        + each_line(mark_lines(base64_lines(rng, 1624)), "{}", "\\n")
        + '\\n-----END PRIVATE KEY-----\\n",\n  "client_email": "bot@acme.iam.gserviceaccount.com"\n}'
    )
)
half.kind("kubernetes-tls-key", "key type")(
    lambda rng: (
        "kind: Secret\ntype: kubernetes.io/tls\ndata:\n  tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM=\n  tls.key: LS0tLS1CRUdJTi"
        + mark(chars(rng, ALPHABETS["b"], 2200) + "==")
    )
)
half.kind("openvpn-static", "key type", wrapped=False)(
    lambda rng: (
        "-----BEGIN OpenVPN Static key V1-----\n"
        + mark_lines("\n".join(chars(rng, ALPHABETS["h"], 32) for _ in range(16)))
        + "\n-----END OpenVPN Static key V1-----"
    )
)
half.kind("dnssec-private", "key type")(
    lambda rng: (
        "Private-key-format: v1.3\nAlgorithm: 13 (ECDSAP256SHA256)\nPrivateKey: "
        + mark(chars(rng, ALPHABETS["b"], 43) + "=")
    )
)
half.kind("apple-p8", "key type", wrapped=False)(
    lambda rng: (
        fill(rng, "$ cat AuthKey_⟨u:10⟩.p8\n-----BEGIN PRIVATE KEY-----\n")
        + mark_lines(base64_lines(rng, 200, 64, "MIGTAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIBAQQg"))
        + "\n-----END PRIVATE KEY-----"
    )
)
half.kind("sops-age-env", "key type")(
    lambda rng: "export SOPS_AGE_KEY=AGE-SECRET-KEY-1" + mark(fill(rng, "⟨bech:58⟩").upper())
)
half.kind("ssh-host-key-scan", "key type", wrapped=False)(
    lambda rng: (
        "/etc/ssh/ssh_host_ed25519_key:\n-----BEGIN OPENSSH PRIVATE KEY-----\n"
        + mark_lines(base64_lines(rng, 380, 70, "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU"))
        + "\n-----END OPENSSH PRIVATE KEY-----"
    )
)
half.kind("rsa-xml-key", "key type")(
    lambda rng: (
        "<RSAKeyValue><Modulus>"
        + chars(rng, ALPHABETS["b"], 342)
        + "==</Modulus><Exponent>AQAB</Exponent><D>"
        + mark(chars(rng, ALPHABETS["b"], 342) + "==")
        + "</D></RSAKeyValue>"
    )
)
half.kind("private-key-one-base64", "key type")(
    lambda rng: (
        rng.choice(("SSH_PRIVATE_KEY_B64", "PRIVATE_KEY_BASE64", "DEPLOY_KEY_BASE64"))
        + "=LS0tLS1CRUdJTiBPUEVOU1NI"
        + mark(chars(rng, ALPHABETS["b"], 1400))
    )
)
