"""The kinds of secrets that rules are tuned on; see `secrets.py`."""

import base64
import json

from benchmarks.secrets import (
    ALPHABETS,
    SEED_WORDS,
    WORDS,
    Half,
    base64_lines,
    base64_value,
    bash_payload,
    chars,
    each_line,
    edit_payload,
    fill,
    leading_slash,
    mark,
    mark_lines,
    non_ascii,
    pem,
    prefix_lines,
    random_uuid,
    read_payload,
    secret_value,
    short,
    strong,
    tool_payload,
    weak,
    with_digit,
    with_xxx,
)

half = Half("tune")

half.names += """
password db_password db_pass smtp_pass smtp_password pg_password redis_password admin_pass
user_password ansible_become_pass ansible_ssh_pass become_password ldap_bind_password
keystore_password store_password passphrase key_passphrase signing_passphrase vault_password
sudo_password login_password account_password proxy_password sftp_pass imap_password
email_host_password jdbc_password app_secret jwt_secret secret_key_base encryption_key
signing_key oauth_client_secret consumer_secret app_secret_key secret_token token_secret
aws_secret_access_key secret_access_key storage_account_key account_key primary_key_secret
api_key apikey access_token auth_token refresh_token bearer_token id_token deploy_token
user_token registration_token runner_token csrf_secret private_token read_token
subscription_key internal_api_key partner_api_key stripe_secret_key credential db_credentials
basic_auth_password registry_password sonar_token vpn_psk pre_shared_key restic_password
borg_passphrase grafana_admin_password elastic_password cassandra_password mssql_sa_password
db_pw dbpass new_password confirm_password master_password totp_secret password_pepper
crypto_key aes_key data_encryption_key jwt_private_secret
""".split()

half.sentences += [
    "⟨date⟩ ⟨time⟩ ⟨level⟩ [⟨service⟩] authenticating with ⟨t⟩",
    "⟨date⟩T⟨time⟩Z ⟨level⟩ ⟨service⟩: request failed: 401 Unauthorized (⟨t⟩)",
    "[⟨time⟩] ⟨service⟩ | loaded credentials: ⟨t⟩",
    'Error: invalid credentials "⟨t⟩": the account was not found\n    at Client.request (/app/node_modules/client/index.js:⟨n:10-900⟩:13)',
    'client = Client("⟨t⟩")',
    'return connect("⟨t⟩", region="⟨region⟩")',
    "curl -s https://⟨domain⟩/v1/me -H 'Authorization: Bearer ⟨t⟩'",
    'assert login("⟨t⟩").ok',
    'let client = Client::new("⟨t⟩");',
    '-    "⟨t⟩",',
    "export FOO=⟨t⟩",
    "    value: ⟨t⟩",
    "> ⟨t⟩\n\nthat is what support sent me",
    "+ set -x\n+ ./deploy.sh ⟨env⟩ ⟨t⟩\n+ exit 0",
]

half.assignments += [
    "⟨NAME⟩=⟨t⟩",
    "export ⟨NAME⟩=⟨t⟩",
    '⟨name⟩ = "⟨t⟩"',
    '"⟨name⟩": "⟨t⟩",',
    '"⟨camel⟩": "⟨t⟩"',
    "⟨camel⟩: '⟨t⟩',",
    "docker run -d -e ⟨NAME⟩=⟨t⟩ -p 8080:8080 acme/⟨service⟩",
    "⟨NAME⟩=⟨t⟩ npm run start",
    'client = Client(⟨name⟩="⟨t⟩", region="⟨region⟩")',
    "⟨dotted⟩=⟨t⟩",
    "      - ⟨NAME⟩=⟨t⟩",
    "  ⟨NAME⟩ => ⟨t⟩",
    '- name: ⟨NAME⟩\n  value: "⟨t⟩"',
    "--⟨kebab⟩=⟨t⟩",
    '{"⟨NAME⟩":"⟨t⟩","REGION":"⟨region⟩"}',
]


# --- cloud ---

half.named("aws-secret-key", "cloud", "aws_secret_access_key AWS_SECRET_ACCESS_KEY", "⟨b:40⟩")
half.token("aws-access-key-id", "cloud", "AKIA⟨b32:16⟩", "ASIA⟨b32:16⟩")
half.named(
    "aws-session-token",
    "cloud",
    "aws_session_token AWS_SESSION_TOKEN",
    "IQoJb3JpZ2luX2Vj⟨b:300-900⟩==",
    "FwoGZXIvYXdzE⟨b:300-700⟩=",
)
half.token("gcp-api-key", "cloud", "AIza⟨bu:35⟩")
half.token("azure-client-secret", "cloud", "⟨an:3⟩8Q~⟨an:31⟩⟨an:3⟩", "⟨an:3⟩7Q~⟨bu:31⟩")
half.kind("azure-storage-connection", "cloud")(
    lambda rng: (
        fill(rng, "DefaultEndpointsProtocol=https;AccountName=⟨lo:8-14⟩;AccountKey=")
        + mark(fill(rng, "⟨b:86⟩=="))
        + ";EndpointSuffix=core.windows.net"
    )
)
half.kind("azure-sas-url", "cloud")(
    lambda rng: (
        fill(
            rng,
            "https://⟨lo:8-14⟩.blob.core.windows.net/backups/dump.sql?sv=2024-11-04&ss=b&srt=sco&sp=rl&se=⟨date⟩T⟨time⟩Z&sig=",
        )
        + mark(fill(rng, "⟨an:20-40⟩%2B⟨an:10⟩%2F⟨an:8⟩%3D"))
    )
)
half.kind("azure-service-bus", "cloud")(
    lambda rng: (
        fill(
            rng,
            "Endpoint=sb://⟨lo:8-14⟩.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=",
        )
        + mark(fill(rng, "⟨b:43⟩="))
    )
)
half.kind("azure-cosmos-connection", "cloud")(
    lambda rng: (
        fill(rng, "AccountEndpoint=https://⟨lo:8-14⟩.documents.azure.com:443/;AccountKey=")
        + mark(fill(rng, "⟨b:86⟩=="))
        + ";"
    )
)
half.named(
    "azure-openai-key",
    "cloud",
    "AZURE_OPENAI_API_KEY AZURE_OPENAI_KEY",
    "⟨an:52⟩JQQJ99⟨b32:4⟩AC⟨an:22⟩",
    "⟨h:32⟩",
)
half.token("digitalocean-oauth", "cloud", "doo_v1_⟨h:64⟩", "dor_v1_⟨h:64⟩")
half.named("alibaba-secret", "cloud", "ALIBABA_CLOUD_ACCESS_KEY_SECRET accessKeySecret", "⟨an:30⟩")
half.token("cloudflare-user-token", "cloud", "cfut_⟨an:40⟩⟨h:8⟩", "cfat_⟨an:40⟩⟨h:8⟩")
half.token("cloudflare-origin-ca", "cloud", "v1.0-⟨h:24⟩-⟨h:146⟩")
half.named("hetzner-token", "cloud", "HCLOUD_TOKEN", "⟨an:64⟩")
half.named("linode-token", "cloud", "LINODE_TOKEN LINODE_CLI_TOKEN", "⟨h:64⟩")
half.named("vultr-key", "cloud", "VULTR_API_KEY", "⟨u:36⟩")
half.named("scaleway-secret", "cloud", "SCW_SECRET_KEY", "⟨uuid⟩")
half.token("upcloud-token", "cloud", "ucat_⟨u:26⟩")
half.named("ibm-cloud-key", "cloud", "IBMCLOUD_API_KEY IC_API_KEY", "⟨bu:44⟩")
half.token("yandex-api-key", "cloud", "AQVN⟨bu:35-38⟩", "y0_⟨bu:55-60⟩")
half.named("backblaze-key", "cloud", "B2_APPLICATION_KEY B2_KEY", "K00⟨d:1⟩⟨b:27⟩")

# --- code host ---

half.token("github-classic", "code host", "ghp_⟨an:36⟩")
half.token("github-oauth", "code host", "gho_⟨an:36⟩")
half.token("github-app", "code host", "ghs_⟨an:36⟩", "ghu_⟨an:36⟩")
half.token("github-refresh", "code host", "ghr_⟨an:76⟩")
half.kind("github-clone-url", "code host")(
    lambda rng: (
        fill(rng, "git clone https://x-access-token:ghs_")
        + mark(fill(rng, "⟨an:36⟩"))
        + "@github.com/acme/shop.git"
    )
)
half.token("gitlab-pat", "code host", "glpat-⟨bu:20⟩", "glpat-⟨bu:27⟩.01.⟨l:9⟩")
half.token("gitlab-deploy", "code host", "gldt-⟨bu:20⟩")
half.token("gitlab-runner", "code host", "glrt-⟨bu:20⟩", "glrt-t1_⟨bu:20⟩", "GR1348941⟨bu:20⟩")
half.token("gitlab-job", "code host", "glcbt-⟨h:2⟩_⟨bu:20⟩")
half.token("gitlab-feed", "code host", "glft-⟨bu:20⟩", "glimt-⟨bu:25⟩")
half.token("gitlab-oauth-secret", "code host", "gloas-⟨h:64⟩", "glsoat-⟨bu:20⟩")
half.token("gitlab-agent", "code host", "glagent-⟨bu:50⟩")
half.token("atlassian-api-token", "code host", "ATATT3xFfGF0⟨bu:160-180⟩=⟨H:8⟩")
half.named("gitea-token", "code host", "GITEA_TOKEN FORGEJO_TOKEN CODEBERG_TOKEN", "⟨h:40⟩")

# --- ci ---

half.token("buildkite-token", "ci", "bkua_⟨h:40⟩", "bkct_⟨an:40⟩")
half.named("jenkins-api-token", "ci", "JENKINS_API_TOKEN JENKINS_TOKEN", "11⟨h:32⟩")
half.token("harness-pat", "ci", "pat.⟨an:22⟩.⟨|⟩⟨h:24⟩.⟨an:20⟩")
half.token("octopus-key", "ci", "API-⟨u:26⟩")
half.named("snyk-token", "ci", "SNYK_TOKEN", "⟨uuid⟩")
half.token("vault-service", "ci", "hvs.⟨bu:90-120⟩", "hvs.⟨an:24⟩")
half.token("infisical-token", "ci", "st.⟨h:24⟩.⟨h:32⟩.⟨h:32⟩")
half.token("dagger-cloud", "ci", "dag_⟨lo:4-10⟩_⟨|⟩⟨an:40⟩")
half.token("launchdarkly-key", "ci", "api-⟨uuid⟩", "sdk-⟨uuid⟩")

# --- registry ---

half.token(
    "pypi-token",
    "registry",
    "pypi-AgEIcHlwaS5vcmc⟨bu:130-180⟩",
    "pypi-AgENdGVzdC5weXBpLm9yZw⟨bu:130-180⟩",
)
half.token("rubygems-key", "registry", "rubygems_⟨h:48⟩")
half.token("dockerhub-pat", "registry", "dckr_pat_⟨bu:27⟩")
half.token("nuget-key", "registry", "oy2⟨l:43⟩")
half.token("clojars-token", "registry", "CLOJARS_⟨h:60⟩")
half.token("artifactory-key", "registry", "AKCp⟨d:1⟩⟨an:68⟩")
half.token("artifactory-reference", "registry", "cmVmdGtuOjAxO⟨an:51⟩")
half.named("cloudsmith-key", "registry", "CLOUDSMITH_API_KEY", "⟨h:40⟩")

# --- llm ---

half.token("anthropic-api", "llm", "sk-ant-api03-⟨bu:93⟩AA")
half.token("anthropic-oauth", "llm", "sk-ant-oat01-⟨bu:93⟩AA", "sk-ant-ort01-⟨bu:93⟩AA")
half.token("openrouter-key", "llm", "sk-or-v1-⟨h:64⟩")
half.token("perplexity-key", "llm", "pplx-⟨an:48⟩")
half.token("huggingface-token", "llm", "hf_⟨a:34⟩", "api_org_⟨a:34⟩")
half.token("replicate-token", "llm", "r8_⟨an:37⟩")
half.named("mistral-key", "llm", "MISTRAL_API_KEY", "⟨an:32⟩")
half.token("fireworks-key", "llm", "fw_⟨an:22-24⟩")
half.token("cerebras-key", "llm", "csk-⟨l:48⟩")
half.token("pinecone-key", "llm", "pcsk_⟨an:5-6⟩_⟨an:63⟩")
half.token("langfuse-key", "llm", "sk-lf-⟨uuid⟩")
half.token("elevenlabs-key", "llm", "sk_⟨h:48⟩")
half.token("tavily-key", "llm", "tvly-⟨an:32⟩", "tvly-dev-⟨an:32⟩")
half.token("firecrawl-key", "llm", "fc-⟨h:32⟩")
half.named("wandb-key", "llm", "WANDB_API_KEY", "⟨h:40⟩", "wandb_v1_⟨an:77⟩")
half.named("zhipu-key", "llm", "ZHIPUAI_API_KEY ZAI_API_KEY", "⟨h:32⟩.⟨an:16⟩")
half.token("vercel-ai-gateway", "llm", "vck_⟨an:56⟩")
half.token("helicone-key", "llm", "sk-helicone-⟨l:7⟩-⟨l:7⟩-⟨l:7⟩-⟨l:7⟩")
half.named("weaviate-key", "llm", "WEAVIATE_API_KEY", "⟨an:36⟩")
half.token("mem0-key", "llm", "m0-⟨an:40⟩")

# --- payment ---

half.token("stripe-webhook", "payment", "whsec_⟨an:32⟩", "whsec_⟨b:32⟩")
half.named("paypal-secret", "payment", "PAYPAL_CLIENT_SECRET PAYPAL_SECRET", "E⟨bu:79⟩")
half.token("adyen-key", "payment", "AQE⟨bu:80-120⟩-⟨b:43⟩=-⟨an:16⟩")
half.named("razorpay-secret", "payment", "RAZORPAY_KEY_SECRET", "⟨an:24⟩")
half.token("plaid-access", "payment", "access-production-⟨uuid⟩", "access-sandbox-⟨uuid⟩")
half.token("paddle-key", "payment", "pdl_live_apikey_⟨l:26⟩_⟨an:22⟩_⟨an:3⟩")
half.token("flutterwave-key", "payment", "FLWSECK-⟨h:32⟩-X", "FLWSECK_TEST-⟨h:32⟩-X")
half.token("lob-key", "payment", "live_⟨h:35⟩")

# --- mail ---

half.token("sendgrid-key", "mail", "SG.⟨bu:22⟩.⟨bu:43⟩")
half.named("postmark-token", "mail", "POSTMARK_SERVER_TOKEN POSTMARK_API_TOKEN", "⟨uuid⟩")
half.token("brevo-key", "mail", "xkeysib-⟨h:64⟩-⟨an:16⟩", "xsmtpsib-⟨h:64⟩-⟨an:16⟩")
half.token("mailersend-key", "mail", "mlsn.⟨h:64⟩")
half.named("sparkpost-key", "mail", "SPARKPOST_API_KEY", "⟨h:40⟩")
half.named("gmail-app-password", "mail", "GMAIL_APP_PASSWORD EMAIL_HOST_PASSWORD", "⟨lo:16⟩")

# --- messaging ---

half.token("discord-webhook", "messaging", "https://discord.com/api/webhooks/⟨d:19⟩/⟨|⟩⟨bu:68⟩")
half.token("telegram-bot", "messaging", "⟨d:10⟩:AA⟨|⟩⟨bu:33⟩")
half.named("twilio-auth", "messaging", "TWILIO_AUTH_TOKEN", "⟨h:32⟩")
half.token("twilio-key", "messaging", "SK⟨h:32⟩")
half.token(
    "teams-webhook",
    "messaging",
    "https://acme.webhook.office.com/webhookb2/⟨uuid⟩@⟨uuid⟩/IncomingWebhook/⟨|⟩⟨h:32⟩/⟨uuid⟩",
)
half.named("mattermost-token", "messaging", "MATTERMOST_TOKEN MM_BOT_TOKEN", "⟨l:26⟩")
half.token("onesignal-key", "messaging", "os_v2_app_⟨l:104⟩", "os_v2_org_⟨l:104⟩")
half.named("vonage-secret", "messaging", "VONAGE_API_SECRET NEXMO_API_SECRET", "⟨an:16⟩")
half.token("zapier-webhook", "messaging", "https://hooks.zapier.com/hooks/catch/⟨d:7⟩/⟨|⟩⟨l:7⟩/")

# --- monitoring ---

half.named("datadog-app", "monitoring", "DD_APP_KEY DATADOG_APP_KEY", "⟨h:40⟩")
half.token("newrelic-ingest", "monitoring", "⟨h:36⟩NRAL", "NRII-⟨bu:32⟩")
half.token("sentry-org", "monitoring", "sntrys_eyJpYXQiOj⟨b:100-220⟩=_⟨b:43⟩")
half.named("pagerduty-key", "monitoring", "PAGERDUTY_API_KEY PD_TOKEN", "u+⟨bu:18⟩", "⟨bu:20⟩")
half.kind("splunk-hec", "monitoring")(
    lambda rng: (
        fill(rng, 'curl -k https://⟨host⟩:8088/services/collector -H "Authorization: Splunk ')
        + mark(random_uuid(rng))
        + '" -d \'{"event":"x"}\''
    )
)
half.token("posthog-personal", "monitoring", "phx_⟨an:43⟩")
half.token("axiom-token", "monitoring", "xaat-⟨uuid⟩", "xapt-⟨uuid⟩")
half.token("statsig-secret", "monitoring", "secret-⟨an:43⟩")
half.named("betterstack-token", "monitoring", "LOGTAIL_SOURCE_TOKEN BETTERSTACK_TOKEN", "⟨an:24⟩")

# --- auth ---

half.token("supabase-secret", "auth", "sb_secret_⟨bu:22⟩_⟨bu:8⟩")
half.token("supabase-access", "auth", "sbp_⟨h:40⟩", "sbp_v0_⟨h:40⟩")
half.token("stytch-secret", "auth", "secret-live-⟨bu:40⟩=", "secret-test-⟨bu:40⟩=")
half.token(
    "jwe-token", "auth", "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..⟨bu:16⟩.⟨bu:200-600⟩.⟨bu:22⟩"
)
half.named("rails-master", "auth", "RAILS_MASTER_KEY", "⟨h:32⟩")
half.named("laravel-key", "auth", "APP_KEY", "base64:⟨b:43⟩=")
half.token("facebook-token", "auth", "EAA⟨an:160-200⟩ZD", "EAAG⟨an:170⟩")
half.token("linear-key", "auth", "lin_api_⟨an:40⟩", "lin_oauth_⟨h:64⟩")
half.token("airtable-pat", "auth", "pat⟨an:14⟩.⟨h:64⟩")
half.token("asana-pat", "auth", "2/⟨d:16⟩/⟨d:16⟩:⟨|⟩⟨h:32⟩")
half.token("clickup-token", "auth", "pk_⟨d:8⟩_⟨|⟩⟨u:32⟩")
half.token("typeform-token", "auth", "tfp_⟨bu:44⟩_⟨bu:14⟩")
half.token("hubspot-pat", "auth", "pat-na1-⟨uuid⟩", "pat-eu1-⟨uuid⟩")
half.token("postman-key", "auth", "PMAK-⟨h:24⟩-⟨h:34⟩")
half.token("frameio-token", "auth", "fio-u-⟨bu:64⟩")
half.token("readme-token", "auth", "rdme_⟨l:70⟩")
half.named("algolia-admin", "auth", "ALGOLIA_ADMIN_KEY ALGOLIA_API_KEY", "⟨h:32⟩")
half.token("microsoft-refresh", "auth", "0.AX⟨bu:60⟩.AgABAwEAAA⟨bu:600-1100⟩")

# --- database ---

half.kind("neon-url", "database")(
    lambda rng: (
        fill(rng, "postgresql://neondb_owner:npg_")
        + mark(fill(rng, "⟨an:12⟩"))
        + fill(
            rng, "@ep-quiet-⟨word⟩-a2⟨l:6⟩-pooler.eu-central-1.aws.neon.tech/neondb?sslmode=require"
        )
    )
)
half.token("databricks-pat", "database", "dapi⟨h:32⟩", "dapi⟨h:32⟩-2")
half.named("turso-token", "database", "TURSO_AUTH_TOKEN DATABASE_AUTH_TOKEN", "⟨jwt⟩")
half.named(
    "upstash-token", "database", "UPSTASH_REDIS_REST_TOKEN KV_REST_API_TOKEN", "A⟨an:60⟩⟨b:40⟩="
)
half.token("convex-deploy", "database", "prod:quiet-otter-⟨d:3⟩|⟨|⟩eyJ2MiI6⟨an:60⟩==")
half.named("snowflake-password", "database", "SNOWFLAKE_PASSWORD SNOWSQL_PWD", "⟨an:14-20⟩!⟨d:2⟩")
half.kind("redis-cloud-url", "database")(
    lambda rng: (
        "rediss://default:"
        + mark(fill(rng, "⟨an:32⟩"))
        + fill(rng, "@redis-⟨n:10000-19999⟩.c1.eu-west-1-3.ec2.cloud.redislabs.com:⟨n:10000-19999⟩")
    )
)
half.kind("supabase-pooler-url", "database")(
    lambda rng: (
        fill(rng, "DATABASE_URL=postgres://postgres.⟨lo:20⟩:")
        + mark(secret_value(rng, "url"))
        + "@aws-0-eu-central-1.pooler.supabase.com:6543/postgres"
    )
)

# --- deploy ---

half.token("render-key", "deploy", "rnd_⟨an:28⟩")
half.named("railway-token", "deploy", "RAILWAY_TOKEN RAILWAY_API_TOKEN", "⟨uuid⟩")
half.token("fly-token", "deploy", "FlyV1 fm2_⟨b:300-700⟩", "fm2_⟨b:200-500⟩", "fo1_⟨bu:43⟩")
half.named("heroku-legacy-key", "deploy", "HEROKU_API_KEY", "⟨uuid⟩")
half.named("ngrok-token", "deploy", "NGROK_AUTHTOKEN NGROK_AUTH_TOKEN", "2⟨an:26⟩_⟨an:21⟩")
half.token(
    "tailscale-key", "deploy", "tskey-auth-k⟨an:10⟩CNTRL-⟨an:32⟩", "tskey-api-k⟨an:10⟩CNTRL-⟨an:32⟩"
)
half.token(
    "kubernetes-sa-token",
    "deploy",
    "eyJhbGciOiJSUzI1NiIsImtpZCI6I⟨bu:44⟩.eyJhdWQiOlsi⟨bu:500-900⟩.⟨bu:342⟩",
)
half.token("openshift-token", "deploy", "sha256~⟨bu:43⟩")
half.kind("docker-config-auth", "deploy")(
    lambda rng: (
        fill(rng, '{\n  "auths": {\n    "registry.⟨domain⟩": {\n      "auth": "')
        + mark(fill(rng, "⟨b:38-60⟩=="))
        + '"\n    }\n  }\n}'
    )
)
half.named(
    "argocd-password", "deploy", "ARGOCD_ADMIN_PASSWORD ARGOCD_AUTH_TOKEN", "⟨bu:16⟩", "⟨jwt⟩"
)

# --- wallet ---

half.named(
    "eth-private-key", "wallet", "PRIVATE_KEY DEPLOYER_PRIVATE_KEY privateKey", "0x⟨h:64⟩", "⟨h:64⟩"
)
half.kind("seed-phrase-env", "wallet")(
    lambda rng: (
        rng.choice(("MNEMONIC=", "SEED_PHRASE=", "WALLET_MNEMONIC="))
        + '"'
        + mark(" ".join(rng.sample(SEED_WORDS, rng.choice((12, 24)))))
        + '"'
    )
)
half.kind("seed-phrase-code", "wallet")(
    lambda rng: (
        rng.choice(("mnemonic: '", "const seedPhrase = '", "recovery_phrase = '"))
        + mark(" ".join(rng.sample(SEED_WORDS, rng.choice((12, 15, 24)))))
        + "'"
    )
)
half.kind("solana-keypair", "wallet")(
    lambda rng: (
        "$ cat ~/.config/solana/id.json\n["
        + mark(",".join(str(rng.randint(0, 255)) for _ in range(64)))
        + "]"
    )
)
half.named("solana-secret", "wallet", "SOLANA_PRIVATE_KEY WALLET_SECRET_KEY", "⟨b58:88⟩")
half.named("binance-secret", "wallet", "BINANCE_API_SECRET BINANCE_SECRET_KEY", "⟨an:64⟩")
half.named("kraken-secret", "wallet", "KRAKEN_PRIVATE_KEY KRAKEN_API_SECRET", "⟨b:86⟩==")

# --- config ---

half.context(
    "dotenv",
    "config",
    "NODE_ENV=production\n⟨NAME⟩=⟨v⟩\nPORT=⟨n:1000-9999⟩",
    "# ⟨env⟩\n⟨NAME⟩=⟨v⟩",
    values="bare",
)
half.context("dotenv-quoted", "config", '⟨NAME⟩="⟨v⟩"', "⟨NAME⟩='⟨v⟩'")
half.context("dotenv-exported", "config", 'export ⟨NAME⟩="⟨v⟩"\nexport PORT=⟨n⟩')
half.context(
    "yaml-plain",
    "config",
    "database:\n  host: ⟨host⟩\n  user: ⟨user⟩\n  ⟨name⟩: ⟨v⟩\n  pool: ⟨n:1-50⟩",
    values="plain",
)
half.context(
    "yaml-flow",
    "config",
    'db: {host: ⟨host⟩, user: ⟨user⟩, ⟨name⟩: "⟨v⟩"}',
    "auth: {⟨camel⟩: ⟨v:plain⟩, retries: 3}",
)
half.context(
    "compose-environment",
    "config",
    "services:\n  ⟨service⟩:\n    image: postgres:17\n    environment:\n      ⟨NAME⟩: ⟨v:plain⟩\n      POSTGRES_USER: ⟨user⟩",
)
half.context(
    "properties",
    "config",
    "spring.datasource.url=jdbc:postgresql://⟨host⟩:5432/⟨db⟩\n⟨dotted⟩=⟨v⟩",
    "app.⟨kebab⟩ = ⟨v⟩",
    values="bare",
)
half.context(
    "xml-attribute",
    "config",
    '<Resource name="jdbc/⟨db⟩" username="⟨user⟩" ⟨camel⟩="⟨v⟩" maxTotal="20"/>',
    values="bare",
)
half.context(
    "xml-property-child",
    "config",
    "<property>\n  <name>⟨dotted⟩</name>\n  <value>⟨v⟩</value>\n</property>",
    values="plain",
)
half.context(
    "plist",
    "config",
    "<dict>\n\t<key>⟨Pascal⟩</key>\n\t<string>⟨v⟩</string>\n</dict>",
    values="plain",
)
half.context("json", "config", '{\n  "host": "⟨host⟩",\n  "⟨camel⟩": "⟨v⟩",\n  "port": ⟨n⟩\n}')
half.context("json-compact", "config", '{"user":"⟨user⟩","⟨name⟩":"⟨v⟩","ttl":⟨n⟩}')
half.context(
    "json-in-json",
    "config",
    '{"body":"{\\"user\\":\\"⟨user⟩\\",\\"⟨name⟩\\":\\"⟨v⟩\\"}","status":200}',
    values="bare",
)
half.context("json5", "config", "{ ⟨camel⟩: '⟨v⟩', retries: 3, }")
half.context(
    "hcl",
    "config",
    'resource "aws_db_instance" "⟨db⟩" {\n  username = "⟨user⟩"\n  ⟨name⟩ = "⟨v⟩"\n}',
    'variable "⟨name⟩" {\n  default = "⟨v⟩"\n}',
)
half.context(
    "terraform-plan",
    "config",
    '  + resource "aws_db_instance" "main" {\n      + username = "⟨user⟩"\n      + ⟨name⟩ = "⟨v⟩"\n    }',
    '      ~ ⟨name⟩ = "⟨v⟩" -> (known after apply)',
)
half.context(
    "dockerfile-env",
    "config",
    "FROM node:22\nENV ⟨NAME⟩=⟨v⟩\nRUN npm ci",
    "ENV ⟨NAME⟩ ⟨v⟩",
    "ARG ⟨NAME⟩=⟨v⟩",
    values="bare",
)
half.context(
    "systemd-environment",
    "config",
    '[Service]\nEnvironment="⟨NAME⟩=⟨v⟩"\nExecStart=/usr/bin/⟨service⟩',
    "Environment=⟨NAME⟩=⟨v⟩",
    values="bare",
)
half.context(
    "kubernetes-env",
    "config",
    '        env:\n        - name: ⟨NAME⟩\n          value: "⟨v⟩"\n        - name: TZ\n          value: UTC',
)
half.context(
    "ansible-task",
    "config",
    '- name: Create user\n  mysql_user:\n    name: ⟨user⟩\n    ⟨name⟩: "⟨v⟩"\n    state: present',
)
half.context(
    "helm-values",
    "config",
    "postgresql:\n  auth:\n    username: ⟨user⟩\n    ⟨camel⟩: ⟨v⟩",
    values="plain",
)
half.context("gitlab-ci-variables", "config", 'variables:\n  ⟨NAME⟩: "⟨v⟩"\nstages: [build]')
half.context("apache-setenv", "config", 'SetEnv ⟨NAME⟩ "⟨v⟩"', "SetEnv ⟨NAME⟩ ⟨v:bare⟩")
half.context("erlang-config", "config", '{⟨name⟩, <<"⟨v⟩">>},', 'config :app, ⟨name⟩: "⟨v⟩"')
half.context("wpa-supplicant", "config", 'network={\n    ssid="Office"\n    psk="⟨v⟩"\n}')
half.context(
    "printenv", "config", "HOME=/root\n⟨NAME⟩=⟨v⟩\nPATH=/usr/bin:/bin\nSHLVL=1", values="word"
)
half.context(
    "heroku-config",
    "config",
    "=== ⟨service⟩ Config Vars\nPORT:          ⟨n⟩\n⟨NAME⟩:   ⟨v⟩",
    values="bare",
)
half.context(
    "csv-like-config", "config", "host=⟨host⟩;user=⟨user⟩;⟨name⟩=⟨v⟩;pool=5", values="plain"
)

# --- code ---

half.context(
    "python-dict",
    "code",
    'DATABASES = {"default": {"USER": "⟨user⟩", "⟨NAME⟩": "⟨v⟩"}}',
    'cfg["⟨name⟩"] = "⟨v⟩"',
)
half.context("python-triple", "code", '⟨NAME⟩ = """⟨v⟩"""')
half.context(
    "python-fstring-call",
    "code",
    'requests.get(url, headers={"X-Api-Key": "⟨v⟩"}, timeout=5)',
    'requests.post(url, auth=("⟨user⟩", "⟨v⟩"))',
)
half.context(
    "js-env-fallback",
    "code",
    "const ⟨camel⟩ = process.env.⟨NAME⟩ || '⟨v⟩';",
    '⟨camel⟩: process.env.⟨NAME⟩ ?? "⟨v⟩",',
)
half.context(
    "js-storage",
    "code",
    "localStorage.setItem('⟨camel⟩', '⟨v⟩');",
    "await page.fill('#password', '⟨v⟩');",
)
half.context(
    "java-property-call",
    "code",
    'props.put("⟨dotted⟩", "⟨v⟩");',
    'System.setProperty("⟨dotted⟩", "⟨v⟩");',
)
half.context(
    "java-annotation",
    "code",
    '@Value("${⟨dotted⟩:⟨v⟩}")',
    '@ConfigProperty(name = "⟨dotted⟩", defaultValue = "⟨v⟩")',
    values="plain",
)
half.context(
    "gradle-signing",
    "code",
    "    storePassword '⟨v⟩'\n    keyAlias 'release'\n    keyPassword \"⟨v⟩\"",
)
half.context(
    "go-struct",
    "code",
    'cfg := Config{Host: "⟨host⟩", ⟨Pascal⟩: "⟨v⟩"}',
    'os.Setenv("⟨NAME⟩", "⟨v⟩")',
    'flag.String("⟨kebab⟩", "⟨v⟩", "how to log in")',
)
half.context(
    "rust-env-default",
    "code",
    'env::var("⟨NAME⟩").unwrap_or_else(|_| "⟨v⟩".to_string())',
    'Settings { ⟨name⟩: "⟨v⟩".into(), ..Default::default() }',
)
half.context("csharp-credential", "code", 'new NetworkCredential("⟨user⟩", "⟨v⟩");')
half.context(
    "c-define",
    "code",
    '#define ⟨NAME⟩ "⟨v⟩"',
    'static const char *⟨name⟩ = "⟨v⟩";',
    'char ⟨name⟩[] = "⟨v⟩";',
)
half.context(
    "php-define",
    "code",
    "define('⟨NAME⟩', '⟨v⟩');",
    "define( 'DB_PASSWORD', '⟨v⟩' );",
    "const ⟨NAME⟩ = '⟨v⟩';",
)
half.context(
    "php-connect",
    "code",
    "$db = new PDO('mysql:host=⟨host⟩;dbname=⟨db⟩', '⟨user⟩', '⟨v⟩');",
    'mysqli_connect("⟨host⟩", "⟨user⟩", "⟨v⟩", "⟨db⟩");',
)
half.context("swift-let", "code", 'let ⟨camel⟩ = "⟨v⟩"', 'static let ⟨camel⟩: String = "⟨v⟩"')
half.context(
    "dart-const", "code", "const ⟨camel⟩ = '⟨v⟩';", 'final String ⟨camel⟩ = "⟨v⟩";', values="word"
)
half.context(
    "elixir-system",
    "code",
    '⟨name⟩: System.get_env("⟨NAME⟩") || "⟨v⟩"',
    '@⟨name⟩ "⟨v⟩"',
    'config :app, App.Repo, ⟨name⟩: "⟨v⟩"',
    values="word",
)
half.context("lua-table", "code", 'local ⟨name⟩ = "⟨v⟩"', '{ user = "⟨user⟩", ⟨name⟩ = "⟨v⟩" }')
half.context(
    "r-setenv",
    "code",
    'Sys.setenv(⟨NAME⟩ = "⟨v⟩")',
    '⟨name⟩ <- "⟨v⟩"',
    "dbConnect(drv, user = \"⟨user⟩\", ⟨name⟩ = '⟨v⟩')",
)
half.context(
    "sql-identified-by",
    "code",
    "CREATE USER '⟨user⟩'@'%' IDENTIFIED BY '⟨v⟩';",
    "GRANT ALL ON ⟨db⟩.* TO '⟨user⟩'@'localhost' IDENTIFIED BY '⟨v⟩';",
    'ALTER USER ⟨user⟩ IDENTIFIED BY "⟨v⟩";',
    "ALTER USER 'root'@'localhost' IDENTIFIED WITH mysql_native_password BY '⟨v⟩';",
)
half.context(
    "sql-create-login",
    "code",
    "CREATE LOGIN ⟨user⟩ WITH PASSWORD = N'⟨v⟩', CHECK_POLICY = OFF;",
    "ALTER LOGIN sa WITH PASSWORD = '⟨v⟩';",
)
half.context(
    "sql-set-password",
    "code",
    "SET PASSWORD FOR '⟨user⟩'@'%' = PASSWORD('⟨v⟩');",
    "CREATE SECRET s (TYPE s3, SECRET '⟨v⟩', REGION '⟨region⟩');",
)
half.context(
    "object-repr",
    "code",
    "<Connection host=⟨host⟩ user=⟨user⟩ ⟨name⟩=⟨v:plain⟩>",
    'Config { host: "⟨host⟩", ⟨name⟩: "⟨v⟩", port: ⟨n⟩ }',
    "&{Host:⟨host⟩ ⟨Pascal⟩:⟨v:plain⟩ Port:⟨n⟩}",
)

# --- shell ---

half.context("bash-default", "shell", "⟨NAME⟩=${⟨NAME⟩:-⟨v⟩}", ': "${⟨NAME⟩:=⟨v⟩}"', values="plain")
half.context("csh-setenv", "shell", "setenv ⟨NAME⟩ ⟨v⟩", 'setenv ⟨NAME⟩ "⟨v⟩"', values="bare")
half.context(
    "powershell-variable",
    "shell",
    '$env:⟨NAME⟩ = "⟨v⟩"',
    "$⟨camel⟩ = '⟨v⟩'",
    "$⟨Pascal⟩ = ConvertTo-SecureString '⟨v⟩' -AsPlainText -Force",
    values="word",
)
half.context("heredoc-env", "shell", "cat > .env <<'EOF'\n⟨NAME⟩=⟨v⟩\nPORT=⟨n⟩\nEOF", values="bare")
half.context(
    "set-x-trace", "shell", "++ ⟨NAME⟩=⟨v⟩\n++ export ⟨NAME⟩", "+ ⟨NAME⟩=⟨v⟩", values="plain"
)
half.context(
    "read-echo-pipe",
    "shell",
    "echo '⟨v⟩' | sudo -S systemctl restart ⟨service⟩",
    'echo "⟨v⟩" | docker login -u ⟨user⟩ --password-stdin',
    "printf '⟨v⟩' | passwd --stdin ⟨user⟩",
    values="bare",
)

# --- cli ---

half.context(
    "curl-header",
    "cli",
    "curl -H 'X-Api-Key: ⟨v⟩' https://⟨domain⟩/v1",
    'curl -H "X-Auth-Token: ⟨v⟩" https://⟨domain⟩',
    "curl --header 'PRIVATE-TOKEN: ⟨v⟩' https://⟨domain⟩/api/v4/projects",
    values="token",
)
half.context(
    "curl-form",
    "cli",
    "curl -d 'grant_type=password&username=⟨user⟩&password=⟨v⟩' https://⟨domain⟩/token",
    "curl -F ⟨name⟩=⟨v⟩ https://⟨domain⟩/login",
    "curl --data-urlencode '⟨name⟩=⟨v⟩' https://⟨domain⟩/login",
    values="plain",
)
half.context(
    "curl-json",
    "cli",
    'curl -X POST https://⟨domain⟩/login -d \'{"user":"⟨user⟩","⟨name⟩":"⟨v⟩"}\'',
)
half.context(
    "wget-password",
    "cli",
    "wget --user=⟨user⟩ --password=⟨v⟩ https://⟨domain⟩/file.tgz",
    "wget --http-password=⟨v⟩ https://⟨domain⟩/x",
    values="bare",
)
half.context(
    "redis-cli-auth",
    "cli",
    "redis-cli -h ⟨host⟩ -a ⟨v⟩ ping",
    "redis-cli --pass ⟨v⟩ info",
    "REDISCLI_AUTH=⟨v⟩ redis-cli ping",
    values="bare",
)
half.context(
    "mongo-option",
    "cli",
    "mongosh --host ⟨host⟩ -u ⟨user⟩ -p ⟨v⟩ --authenticationDatabase admin",
    "mongodump --username ⟨user⟩ --password '⟨v⟩' --db ⟨db⟩",
    values="bare",
)
half.context(
    "docker-login",
    "cli",
    "docker login -u ⟨user⟩ -p ⟨v⟩ registry.⟨domain⟩",
    "docker login --username ⟨user⟩ --password ⟨v⟩",
    "podman login -u ⟨user⟩ -p '⟨v⟩' registry.⟨domain⟩",
    values="bare",
)
half.context(
    "docker-build-arg", "cli", "docker build --build-arg ⟨NAME⟩=⟨v⟩ -t app .", values="bare"
)
half.context(
    "helm-set",
    "cli",
    "helm upgrade --install ⟨service⟩ ./chart --set auth.⟨camel⟩=⟨v⟩",
    "helm install db bitnami/postgresql --set-string global.⟨camel⟩=⟨v⟩,replicas=2",
    values="plain",
)
half.context(
    "smb-mount",
    "cli",
    "mount -t cifs //⟨host⟩/share /mnt -o username=⟨user⟩,password=⟨v⟩",
    "smbclient //⟨host⟩/share -U ⟨user⟩%⟨v⟩",
    values="plain",
)
half.context(
    "htpasswd-command",
    "cli",
    "htpasswd -b /etc/nginx/.htpasswd ⟨user⟩ ⟨v⟩",
    "htpasswd -bnBC 10 ⟨user⟩ '⟨v⟩'",
    values="bare",
)
half.context(
    "az-login",
    "cli",
    "az login --service-principal -u ⟨uuid⟩ -p ⟨v⟩ --tenant ⟨uuid⟩",
    "az vm create -n vm --admin-username ⟨user⟩ --admin-password '⟨v⟩'",
    values="bare",
)
half.context(
    "rabbitmqctl",
    "cli",
    "rabbitmqctl add_user ⟨user⟩ ⟨v⟩",
    "rabbitmqctl change_password ⟨user⟩ '⟨v⟩'",
    values="bare",
)
half.context(
    "mosquitto-pub", "cli", "mosquitto_pub -h ⟨host⟩ -u ⟨user⟩ -P ⟨v⟩ -t a -m b", values="bare"
)
half.context(
    "restic-env",
    "cli",
    "RESTIC_PASSWORD='⟨v⟩' restic -r s3:s3.amazonaws.com/b snapshots",
    "BORG_PASSPHRASE=⟨v⟩ borg list",
    values="bare",
)

# --- url ---

half.context(
    "mysql-url",
    "url",
    "mysql://⟨user⟩:⟨v⟩@⟨host⟩:3306/⟨db⟩",
    "mysql+pymysql://⟨user⟩:⟨v⟩@⟨host⟩/⟨db⟩",
    values="url",
)
half.context(
    "redis-url",
    "url",
    "redis://:⟨v⟩@⟨host⟩:6379/0",
    "rediss://default:⟨v⟩@⟨host⟩:6380",
    values="url",
)
half.context(
    "amqp-url",
    "url",
    "amqp://⟨user⟩:⟨v⟩@⟨host⟩:5672/vhost",
    "amqps://⟨user⟩:⟨v⟩@⟨host⟩/%2f",
    values="url",
)
half.context(
    "ftp-url", "url", "ftp://⟨user⟩:⟨v⟩@⟨host⟩/pub", "sftp://⟨user⟩:⟨v⟩@⟨host⟩:22/in", values="url"
)
half.context(
    "ldap-url",
    "url",
    "ldap://cn=admin:⟨v⟩@⟨host⟩:389",
    "nats://⟨user⟩:⟨v⟩@⟨host⟩:4222",
    values="url",
)
half.context(
    "jdbc-url",
    "url",
    "jdbc:postgresql://⟨host⟩/⟨db⟩?user=⟨user⟩&password=⟨v⟩",
    "jdbc:mysql://⟨host⟩:3306/⟨db⟩?user=⟨user⟩&password=⟨v⟩&useSSL=true",
    values="plain",
)
half.context(
    "jdbc-oracle",
    "url",
    "jdbc:oracle:thin:⟨user⟩/⟨v⟩@//⟨host⟩:1521/ORCL",
    "sqlplus ⟨user⟩/⟨v⟩@ORCL",
    values="plain",
)
half.context(
    "jdbc-sqlserver",
    "url",
    "jdbc:sqlserver://⟨host⟩:1433;databaseName=⟨db⟩;user=⟨user⟩;password=⟨v⟩;encrypt=true",
    values="plain",
)
half.context(
    "adonet",
    "url",
    "Server=⟨host⟩;Database=⟨db⟩;User Id=⟨user⟩;Password=⟨v⟩;Encrypt=True;",
    "Data Source=⟨host⟩;Initial Catalog=⟨db⟩;UID=⟨user⟩;PWD=⟨v⟩;",
    values="plain",
)
half.context(
    "odbc",
    "url",
    "Driver={ODBC Driver 18 for SQL Server};Server=⟨host⟩;Uid=⟨user⟩;Pwd=⟨v⟩;",
    values="plain",
)
half.context(
    "go-mysql-dsn", "url", "⟨user⟩:⟨v⟩@tcp(⟨host⟩:3306)/⟨db⟩?parseTime=true", values="plain"
)
half.context(
    "query-token",
    "url",
    "https://⟨domain⟩/hook?token=⟨v⟩&event=push",
    "wss://⟨domain⟩/live?access_token=⟨v⟩",
    "https://⟨domain⟩/v1/q?api_key=⟨v⟩&limit=10",
    values="token",
)
half.kind("url-dollar-password", "url")(
    lambda rng: (
        fill(rng, "postgresql+asyncpg://⟨user⟩:")
        + mark(fill(rng, "⟨an:6⟩$⟨an:5⟩&⟨an:4⟩="))
        + fill(rng, "@⟨host⟩:5432/⟨db⟩")
    )
)
half.context(
    "kafka-jaas",
    "url",
    'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="⟨user⟩" password="⟨v⟩";',
)
half.context(
    "snowflake-url",
    "url",
    "snowflake://⟨user⟩:⟨v⟩@acme-xy12345/⟨db⟩/public?warehouse=wh",
    "clickhouse://⟨user⟩:⟨v⟩@⟨host⟩:9440/⟨db⟩",
    values="url",
)

# --- file ---

half.context(
    "netrc",
    "file",
    "machine ⟨domain⟩\n  login ⟨user⟩\n  password ⟨v⟩",
    "machine ⟨domain⟩ login ⟨user⟩ password ⟨v⟩",
    values="word",
)
half.context(
    "pgpass",
    "file",
    "$ cat ~/.pgpass\n⟨host⟩:5432:⟨db⟩:⟨user⟩:⟨v⟩",
    "*:*:⟨db⟩:⟨user⟩:⟨v⟩",
    values="plain",
)
half.kind("htpasswd-apr1", "file")(
    lambda rng: fill(rng, "⟨user⟩:$apr1$") + mark(fill(rng, "⟨an:8⟩$⟨an:22⟩"))
)
half.kind("htpasswd-bcrypt", "file")(
    lambda rng: fill(rng, "$ cat .htpasswd\n⟨user⟩:$2y$10$") + mark(fill(rng, "⟨an:53⟩"))
)
half.kind("shadow-line", "file")(
    lambda rng: fill(rng, "⟨user⟩:$6$") + mark(fill(rng, "⟨an:16⟩$⟨an:86⟩")) + ":19876:0:99999:7:::"
)
half.kind("shadow-yescrypt", "file")(
    lambda rng: (
        fill(rng, "root:$y$j9T$") + mark(fill(rng, "⟨an:22⟩$⟨an:43⟩")) + ":20100:0:99999:7:::"
    )
)
half.context(
    "git-credentials", "file", "$ cat ~/.git-credentials\nhttps://⟨user⟩:⟨v⟩@⟨domain⟩", values="url"
)
half.context(
    "git-remote-v",
    "file",
    "origin\thttps://⟨user⟩:⟨v⟩@⟨domain⟩/acme/shop.git (fetch)\norigin\thttps://⟨user⟩:⟨v⟩@⟨domain⟩/acme/shop.git (push)",
    values="url",
)
half.context(
    "aws-credentials",
    "file",
    "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = ⟨v⟩",
    values="bare",
)
half.context(
    "maven-settings",
    "file",
    "<servers>\n  <server>\n    <id>nexus</id>\n    <username>⟨user⟩</username>\n    <password>⟨v⟩</password>\n  </server>\n</servers>",
    values="plain",
)
half.context(
    "nuget-config",
    "file",
    '<packageSourceCredentials>\n  <acme>\n    <add key="Username" value="⟨user⟩" />\n    <add key="ClearTextPassword" value="⟨v⟩" />\n  </acme>\n</packageSourceCredentials>',
    values="bare",
)
half.context("cargo-credentials", "file", '[registries.acme]\ntoken = "⟨v⟩"', values="token")
half.context(
    "my-cnf",
    "file",
    "[client]\nuser=⟨user⟩\npassword=⟨v⟩\nhost=⟨host⟩",
    '[client]\npassword="⟨v⟩"',
    values="word",
)
half.context(
    "s3cfg", "file", "[default]\naccess_key = AKIAIOSFODNN7EXAMPLE\nsecret_key = ⟨v⟩", values="bare"
)
half.context(
    "kube-config-token",
    "file",
    "users:\n- name: ⟨user⟩\n  user:\n    token: ⟨v⟩",
    "users:\n- name: ⟨user⟩\n  user:\n    username: ⟨user⟩\n    password: ⟨v⟩",
    values="plain",
)
half.context(
    "sip-voip-conf",
    "file",
    "[6001]\ntype=auth\nauth_type=userpass\nusername=⟨user⟩\npassword=⟨v⟩",
    values="plain",
)
half.context("wp-salts", "file", "define('LOGGED_IN_SALT', '⟨v⟩');\ndefine('NONCE_KEY', '⟨v⟩');")
half.context(
    "vscode-settings",
    "file",
    '"sqltools.connections": [{"server": "⟨host⟩", "username": "⟨user⟩", "password": "⟨v⟩"}]',
)
half.context(
    "mcp-config",
    "file",
    '{"mcpServers": {"⟨service⟩": {"command": "npx", "env": {"⟨NAME⟩": "⟨v⟩"}}}}',
)
half.context(
    "mcp-args",
    "file",
    '"args": ["-y", "mcp-⟨service⟩", "--⟨kebab⟩", "⟨v⟩"]',
    '"args": ["--⟨kebab⟩=⟨v⟩"]',
    values="word",
)

# --- header ---

half.kind("basic-header", "header")(
    lambda rng: "Authorization: Basic " + mark(fill(rng, "⟨an:22-60⟩=="))
)
half.context(
    "token-header",
    "header",
    "Authorization: Token ⟨v⟩",
    "Authorization: token ⟨v⟩",
    "Authorization: Token token=⟨v⟩",
    values="token",
)
half.kind("digest-header", "header")(
    lambda rng: (
        fill(
            rng,
            'Authorization: Digest username="⟨user⟩", realm="app", nonce="⟨h:32⟩", uri="/", response="',
        )
        + mark(fill(rng, "⟨h:32⟩"))
        + '"'
    )
)
half.kind("aws-sigv4-header", "header")(
    lambda rng: (
        fill(
            rng,
            "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20260110/⟨region⟩/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=",
        )
        + mark(fill(rng, "⟨h:64⟩"))
    )
)
half.context(
    "x-api-key-header",
    "header",
    "x-api-key: ⟨v⟩",
    "X-API-KEY: ⟨v⟩\nContent-Type: application/json",
    "X-Vault-Token: ⟨v⟩",
    "api-key: ⟨v⟩",
    values="token",
)
half.context("x-custom-header", "header", "X-⟨Kebab⟩: ⟨v⟩", '"X-⟨Kebab⟩": "⟨v⟩"', values="bare")
half.context(
    "cookie-session",
    "header",
    "Cookie: theme=dark; sessionid=⟨v⟩; lang=en",
    "Cookie: connect.sid=s%3A⟨v⟩",
    "cookie: JSESSIONID=⟨v⟩",
    values="token",
)
half.context("proxy-authorization", "header", "Proxy-Authorization: Basic ⟨v⟩", values="token")
half.context(
    "oauth-token-response",
    "header",
    '{"access_token":"⟨v⟩","token_type":"Bearer","expires_in":3600,"refresh_token":"⟨v⟩"}',
    values="token",
)
half.context(
    "multipart-field",
    "header",
    '--boundary42\nContent-Disposition: form-data; name="password"\n\n⟨v⟩\n--boundary42--',
    values="bare",
)

# --- prose ---

half.context(
    "prose-german",
    "prose",
    "das Passwort lautet ⟨v⟩",
    "Passwort: ⟨v⟩",
    "Kennwort: ⟨v⟩",
    values="bare",
)
half.context("prose-markdown", "prose", "**Password:** `⟨v⟩`", "- Password: **⟨v⟩**", values="bare")
half.context(
    "prose-credentials-pair",
    "prose",
    "credentials: ⟨user⟩:⟨v⟩",
    "sign in with ⟨mail⟩:⟨v⟩",
    "ssh ⟨user⟩@⟨host⟩ (password ⟨v⟩)",
    values="bare",
)

# --- value ---

half.style(
    "value-passphrase-underscore",
    "value",
    lambda rng: "_".join(rng.sample(WORDS, 5)) + "!",
    passwords=True,
)
half.style("value-contains-xxx", "value", lambda rng: with_xxx(rng, "bare"))
half.style("value-leading-slash", "value", lambda rng: leading_slash(rng, "bare"))
half.style("value-hex-32", "value", lambda rng: chars(rng, ALPHABETS["h"], 32))
half.style("value-uuid", "value", random_uuid)
half.style("value-short-mixed", "value", lambda rng: short(rng, "bare"), passwords=True)
half.style(
    "value-short-8", "value", lambda rng: with_digit(rng, ALPHABETS["an"], 8, 8), passwords=True
)
half.style("value-500", "value", lambda rng: with_digit(rng, ALPHABETS["an"], 500, 600))
half.style("value-3000", "value", lambda rng: with_digit(rng, ALPHABETS["b"], 2500, 3000))
half.style("value-long-base64url", "value", lambda rng: with_digit(rng, ALPHABETS["bu"], 800, 1500))
half.style(
    "value-non-ascii",
    "value",
    lambda rng: non_ascii(rng, "quoted"),
    '⟨name⟩: "⟨v⟩"',
    "⟨NAME⟩='⟨v⟩'",
    '⟨camel⟩ = "⟨v⟩";',
    passwords=True,
)
half.style(
    "value-cyrillic",
    "value",
    lambda rng: chars(rng, "абвгдежзийклмнопрстуфхцчшщэюя", 10, 16) + str(rng.randint(10, 99)),
    '⟨name⟩: "⟨v⟩"',
    "⟨NAME⟩='⟨v⟩'",
    '"⟨name⟩": "⟨v⟩"',
    passwords=True,
)
half.style(
    "value-with-dollar",
    "value",
    lambda rng: with_digit(rng, ALPHABETS["an"] + "$$$$", 14, 24),
    "⟨NAME⟩='⟨v⟩'",
    "⟨name⟩: '⟨v⟩'",
)
half.style("value-letters", "value", lambda rng: chars(rng, ALPHABETS["a"], 16, 32), passwords=True)
half.style(
    "value-lower-letters", "value", lambda rng: chars(rng, ALPHABETS["lo"], 16, 24), passwords=True
)
half.style(
    "value-groups", "value", lambda rng: "-".join(chars(rng, ALPHABETS["u"], 5) for _ in range(5))
)
half.style(
    "value-looks-like-word-test",
    "value",
    lambda rng: "test" + with_digit(rng, ALPHABETS["an"], 12, 20),
)
half.style(
    "value-with-example-inside",
    "value",
    lambda rng: (
        with_digit(rng, ALPHABETS["an"], 10, 16)
        + rng.choice(("example", "sample", "dummy"))
        + with_digit(rng, ALPHABETS["an"], 6, 10)
    ),
)

# --- weak ---

half.style("weak-code", "weak", weak, '⟨name⟩ = "⟨v⟩"', "const ⟨camel⟩ = '⟨v⟩';", passwords=True)
half.style("weak-json", "weak", weak, '{"user": "⟨user⟩", "⟨name⟩": "⟨v⟩"}', passwords=True)
half.style(
    "weak-cli",
    "weak",
    weak,
    "mysql -u⟨user⟩ -p⟨v⟩ ⟨db⟩",
    "curl -u ⟨user⟩:⟨v⟩ https://⟨domain⟩/",
    passwords=True,
)
half.style(
    "weak-prose",
    "weak",
    weak,
    "the password is ⟨v⟩",
    "log in with ⟨user⟩ / password ⟨v⟩",
    passwords=True,
)
half.style(
    "weak-word",
    "weak",
    lambda rng: rng.choice(WORDS),
    "⟨NAME⟩=⟨v⟩",
    "password: ⟨v⟩",
    '"password": "⟨v⟩"',
    passwords=True,
)
half.style(
    "weak-leet",
    "weak",
    lambda rng: (
        rng.choice(("P@ssw0rd", "s3cr3t", "l3tm31n", "Adm1n", "t0ps3cret"))
        + str(rng.randint(1, 9999))
    ),
    "⟨NAME⟩=⟨v⟩",
    'password: "⟨v⟩"',
    passwords=True,
)
half.style(
    "weak-java",
    "weak",
    weak,
    'ds.setPassword("⟨v⟩");',
    "spring.datasource.password=⟨v⟩",
    passwords=True,
)

# --- out of scope ---

half.kind("csv-column", "out of scope", in_scope=False)(
    lambda rng: fill(rng, "user,email,password\n⟨user⟩,⟨mail⟩,") + mark(secret_value(rng, "plain"))
)
half.kind("base64-of-env", "out of scope", in_scope=False)(
    lambda rng: (
        "echo "
        + mark(
            base64.b64encode(f"DB_PASSWORD={secret_value(rng, 'plain')}\nPORT=1".encode()).decode()
        )
        + " | base64 -d > .env"
    )
)
half.kind("bare-base64", "out of scope", in_scope=False)(
    lambda rng: "$ head -c 32 /dev/urandom | base64\n" + mark(base64_value(rng, "bare"))
)
half.kind("bare-in-prose", "out of scope", in_scope=False)(
    lambda rng: "please try " + mark(strong(rng, "bare")) + " instead"
)
half.kind("positional-argument", "out of scope", in_scope=False)(
    lambda rng: fill(rng, "./connect.sh ⟨host⟩ ⟨user⟩ ") + mark(strong(rng, "bare"))
)
half.kind("hexdump", "out of scope", in_scope=False)(
    lambda rng: (
        "00000000  "
        + mark(" ".join(chars(rng, ALPHABETS["h"], 2) for _ in range(16)))
        + "  |................|"
    )
)

# --- key prefix ---

half.prefix("pem-compose", "key prefix", "⟨service⟩-1  | ⟪line⟫")
half.prefix("pem-kubectl-timestamps", "key prefix", "⟨date⟩T⟨time⟩.⟪ms⟫⟨d:6⟩+00:00 ⟪line⟫")
half.prefix("pem-stern", "key prefix", "⟨service⟩-⟨l:10⟩-⟨l:5⟩ app ⟪line⟫")
half.prefix("pem-journald", "key prefix", "Jan 10 ⟨time⟩ node1 ⟨service⟩[⟨n:300-9999⟩]: ⟪line⟫")
half.prefix(
    "pem-journald-iso", "key prefix", "⟨date⟩T⟨time⟩+0100 node1 ⟨service⟩[⟨n:300-9999⟩]: ⟪line⟫"
)
half.prefix("pem-heroku-logs", "key prefix", "⟨date⟩T⟨time⟩.⟪ms⟫⟨d:3⟩+00:00 app[web.1]: ⟪line⟫")
half.prefix(
    "pem-syslog-5424",
    "key prefix",
    "<134>1 ⟨date⟩T⟨time⟩.⟪ms⟫Z ⟨host⟩ ⟨service⟩ ⟨n:300-9999⟩ - - ⟪line⟫",
)
half.prefix("pem-python-logging", "key prefix", "⟨date⟩ ⟨time⟩,⟪ms⟫ ⟨level⟩ app.⟨word⟩: ⟪line⟫")
half.prefix("pem-bracket-log", "key prefix", "[⟨date⟩ ⟨time⟩] [⟨level⟩] ⟪line⟫")
half.prefix("pem-read-arrow", "key prefix", "⟪i6⟫→⟪line⟫")
half.prefix("pem-grep-n", "key prefix", "⟪i⟫:⟪line⟫")
half.prefix("pem-grep-rn", "key prefix", "deploy/certs/⟨word⟩.pem:⟪i⟫:⟪line⟫")
half.prefix("pem-diff-added", "key prefix", "+⟪line⟫")
half.prefix("pem-diff-word", "key prefix", "> ⟪line⟫")
half.prefix("pem-comment-hash", "key prefix", "# ⟪line⟫")
half.prefix("pem-comment-slashes", "key prefix", "// ⟪line⟫")
half.prefix("pem-comment-star", "key prefix", " * ⟪line⟫")
half.prefix("pem-comment-sql", "key prefix", "-- ⟪line⟫")
half.prefix("pem-tab-indent", "key prefix", "\t\t⟪line⟫")
half.prefix("pem-space-indent", "key prefix", "        ⟪line⟫")
half.prefix("pem-pytest-error", "key prefix", "E       ⟪line⟫")
half.prefix("pem-terraform-bar", "key prefix", "│ ⟪line⟫")
half.prefix("pem-nohup-pm2", "key prefix", "0|⟨service⟩  | ⟪line⟫")
half.prefix("pem-docker-buildx", "key prefix", "#12 ⟨n:1-9⟩.⟪ms⟫ ⟪line⟫")
half.prefix("pem-aws-logs", "key prefix", "⟨date⟩T⟨time⟩.⟪ms⟫000+00:00 ecs/app/⟨h:32⟩ ⟪line⟫")

# --- key wrapping ---

half.wrapping("pem-yaml-quoted", "key wrapping")(
    lambda rng, text: fill(rng, 'deploy:\n  ssh_key: "') + each_line(text, "{}", "\\n") + '"'
)
half.wrapping("pem-env-unquoted", "key wrapping")(
    lambda rng, text: rng.choice(("TLS_KEY", "SSH_KEY")) + "=" + each_line(text, "{}", "\\n")
)
half.wrapping("pem-json-string", "key wrapping")(
    lambda rng, text: json.dumps(
        {"name": rng.choice(WORDS), "key": text + "\n"}, ensure_ascii=False
    )
)
half.wrapping("pem-json-in-json", "key wrapping")(
    lambda rng, text: json.dumps(
        {"body": json.dumps({"key": text}, ensure_ascii=False), "status": rng.choice((200, 201))},
        ensure_ascii=False,
    )
)
half.wrapping("pem-python-plus", "key wrapping")(
    lambda rng, text: (
        rng.choice(("key", "pem")) + " = " + each_line(text, '"{}\\n"', " + \\\n      ")
    )
)
half.wrapping("pem-python-triple", "key wrapping")(lambda rng, text: f'KEY = """{text}\n"""')
half.wrapping("pem-js-plus", "key wrapping")(
    lambda rng, text: "const key =\n" + each_line(text, "  '{}\\n'", " +\n") + ";"
)
half.wrapping("pem-js-array-join", "key wrapping")(
    lambda rng, text: "const pem = [\n" + each_line(text, "  '{}'", ",\n") + "\n].join('\\n');"
)
half.wrapping("pem-js-template", "key wrapping")(
    lambda rng, text: f"export const key = `{text}\n`;"
)
half.wrapping("pem-js-line-continuation", "key wrapping")(
    lambda rng, text: "var key = '" + each_line(text, "{}", "\\n\\\n") + "';"
)
half.wrapping("pem-java-plus", "key wrapping")(
    lambda rng, text: (
        "private static final String KEY =\n" + each_line(text, '        "{}\\n"', " +\n") + ";"
    )
)
half.wrapping("pem-java-plus-front", "key wrapping")(
    lambda rng, text: "String pem = " + each_line(text, '"{}\\n"', "\n    + ") + ";"
)
half.wrapping("pem-java-text-block", "key wrapping")(
    lambda rng, text: 'String pem = """\n' + each_line(text, "    {}") + '\n    """;'
)
half.wrapping("pem-go-raw", "key wrapping")(lambda rng, text: f"var testKey = []byte(`{text}\n`)")
half.wrapping("pem-go-plus", "key wrapping")(
    lambda rng, text: "const key = " + each_line(text, '"{}\\n"', " +\n\t")
)
half.wrapping("pem-c-adjacent", "key wrapping")(
    lambda rng, text: "static const char key[] =\n" + each_line(text, '    "{}\\r\\n"') + ";"
)
half.wrapping("pem-c-backslash", "key wrapping")(
    lambda rng, text: "#define SERVER_KEY \\\n" + each_line(text, '"{}\\n"', " \\\n")
)
half.wrapping("pem-php-dot", "key wrapping")(
    lambda rng, text: "$key = " + each_line(text, "'{}' . PHP_EOL", " .\n    ") + ";"
)
half.wrapping("pem-vb-underscore", "key wrapping")(
    lambda rng, text: "key = " + each_line(text, '"{}" & vbCrLf', " & _\n      ")
)
half.wrapping("pem-shell-heredoc-tabs", "key wrapping")(
    lambda rng, text: "cat <<-EOF > key.pem\n" + each_line(text, "\t{}") + "\n\tEOF"
)
half.wrapping("pem-shell-echo-e", "key wrapping")(
    lambda rng, text: 'echo -e "' + each_line(text, "{}", "\\n") + '" > key.pem'
)
half.wrapping("pem-shell-continuation", "key wrapping")(
    lambda rng, text: 'export KEY="' + each_line(text, "{}", "\\n\\\n") + '"'
)
half.wrapping("pem-shell-words", "key wrapping")(
    lambda rng, text: "+ echo " + each_line(text, "{}", " ")
)
half.wrapping("pem-powershell-here", "key wrapping")(lambda rng, text: f"$key = @'\n{text}\n'@")
half.wrapping("pem-terraform-heredoc", "key wrapping")(
    lambda rng, text: f"  private_key = <<EOT\n{text}\nEOT"
)
half.wrapping("pem-sql-insert", "key wrapping")(
    lambda rng, text: f"INSERT INTO keys (id, pem) VALUES ({rng.randint(1, 99)}, '{text}');"
)
half.wrapping("pem-crlf", "key wrapping")(lambda rng, text: each_line(text, "{}", "\r\n") + "\r\n")
half.wrapping("pem-blank-lines", "key wrapping")(lambda rng, text: each_line(text, "{}", "\n\n"))
half.wrapping("pem-trailing-spaces", "key wrapping")(lambda rng, text: each_line(text, "{}   "))
half.wrapping("pem-head-cut", "key wrapping")(
    lambda rng, text: "... 12 lines above\n" + "\n".join(text.split("\n")[1:])
)
half.wrapping("pem-tail-cut", "key wrapping")(
    lambda rng, text: "\n".join(text.split("\n")[:-1]) + "\n... [output truncated]"
)
half.wrapping("pem-tail-cut-in-line", "key wrapping")(
    lambda rng, text: "\n".join(text.split("\n")[:2]) + "\n"
)
half.wrapping("pem-git-show", "key wrapping")(
    lambda rng, text: (
        fill(
            rng,
            "commit ⟨h:40⟩\nAuthor: Alice <⟨mail⟩>\nDate:   Mon Jan 12 ⟨time⟩ 2026 +0100\n\n    add key\n\ndiff --git a/k.pem b/k.pem\nnew file mode 100644\nindex 0000000..⟨h:7⟩\n--- /dev/null\n+++ b/k.pem\n@@ -0,0 +1,28 @@\n",
        )
        + each_line(text, "+{}")
    )
)
half.wrapping("pem-git-log-p-removed", "key wrapping")(
    lambda rng, text: (
        fill(
            rng,
            "diff --git a/certs/k.pem b/certs/k.pem\ndeleted file mode 100644\nindex ⟨h:7⟩..0000000\n--- a/certs/k.pem\n+++ /dev/null\n@@ -1,28 +0,0 @@\n",
        )
        + each_line(text, "-{}")
    )
)
half.wrapping("pem-diff-of-yaml", "key wrapping")(
    lambda rng, text: "@@ -3,2 +3,30 @@\n tls:\n+  key: |\n" + each_line(text, "+    {}")
)
half.wrapping("pem-diff-of-python", "key wrapping")(
    lambda rng, text: "@@ -1 +1,30 @@\n+KEY = (\n" + each_line(text, '+    "{}\\n"') + "\n+)"
)
half.wrapping("pem-cat-n-of-yaml", "key wrapping")(
    lambda rng, text: prefix_lines(
        rng, "⟪i6⟫\t⟪line⟫", "data:\n  key: |\n" + each_line(text, "    {}")
    )
)
half.wrapping("pem-two-keys", "key wrapping")(lambda rng, text: text + "\n" + pem(rng))
half.wrapping("pem-ansible-debug", "key wrapping")(
    lambda rng, text: (
        'ok: [web1] => {\n    "key.stdout_lines": [\n'
        + each_line(text, '        "{}"', ",\n")
        + "\n    ]\n}"
    )
)
half.wrapping("pem-width-76", "key wrapping")(lambda rng, _: pem(rng, width=76))
half.wrapping("pem-csv-cell", "key wrapping")(
    lambda rng, text: f'id,pem\n{rng.randint(1, 99)},"{text}"'
)

# --- key payload ---

half.kind("pem-edit-payload-yaml", "key payload")(
    lambda rng: edit_payload(rng, "tls:\n  key: |\n" + each_line(pem(rng), "    {}"))
)
half.kind("pem-read-payload", "key payload")(lambda rng: read_payload(rng, pem(rng) + "\n"))
half.kind("pem-bash-payload", "key payload")(lambda rng: bash_payload(rng, pem(rng)))
half.kind("pem-bash-heredoc-payload", "key payload")(
    lambda rng: tool_payload(
        rng,
        "Bash",
        {"command": f"cat > k.pem <<'EOF'\n{pem(rng)}\nEOF"},
        {"stdout": "", "stderr": "", "interrupted": False},
    )
)
half.kind("pem-patch-only-payload", "key payload")(
    lambda rng: tool_payload(
        rng,
        "Edit",
        {"file_path": "/home/dev/shop/k.pem"},
        {
            "structuredPatch": [
                {
                    "oldStart": 1,
                    "oldLines": 0,
                    "newStart": 1,
                    "newLines": 28,
                    "lines": each_line(pem(rng), "+{}").split("\n"),
                }
            ]
        },
    )
)
half.kind("pem-mcp-payload", "key payload")(
    lambda rng: tool_payload(
        rng, "mcp__files__read", {"path": "/home/dev/k.pem"}, [{"type": "text", "text": pem(rng)}]
    )
)

# --- key type ---

half.kind("pgp-private", "key type", wrapped=False)(
    lambda rng: (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n"
        + mark_lines(base64_lines(rng, 3200, 64, "lQdGB"))
        + fill(rng, "\n=⟨b:4⟩\n-----END PGP PRIVATE KEY BLOCK-----")
    )
)
half.kind("pgp-private-headers", "key type", wrapped=False)(
    lambda rng: (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\nComment: backup\n\n"
        + mark_lines(base64_lines(rng, 1500, 64, "lIYE"))
        + "\n-----END PGP PRIVATE KEY BLOCK-----"
    )
)
half.kind("pgp-private-indented", "key type", wrapped=False)(
    lambda rng: (
        "gpg:\n  key: |\n    -----BEGIN PGP PRIVATE KEY BLOCK-----\n\n"
        + each_line(mark_lines(base64_lines(rng, 1500)), "    {}")
        + "\n    -----END PGP PRIVATE KEY BLOCK-----"
    )
)
half.kind("ssh2-private", "key type", wrapped=False)(
    lambda rng: (
        '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "rsa-key"\n'
        + mark_lines(base64_lines(rng, 1200, 70))
        + "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----"
    )
)
half.kind("putty-key-v2", "key type", wrapped=False)(
    lambda rng: (
        "PuTTY-User-Key-File-2: ssh-ed25519\nEncryption: none\nComment: deploy\nPublic-Lines: 2\n"
        + base64_lines(rng, 84)
        + "\nPrivate-Lines: 1\n"
        + mark(chars(rng, ALPHABETS["b"], 43) + "=")
        + fill(rng, "\nPrivate-MAC: ⟨h:40⟩")
    )
)
half.token("age-key", "key type", "AGE-SECRET-KEY-1⟨u:58⟩")
half.kind("age-keys-file", "key type")(
    lambda rng: (
        fill(rng, "# created: ⟨date⟩T⟨time⟩Z\n# public key: age1⟨bech:58⟩\nAGE-SECRET-KEY-1")
        + mark(fill(rng, "⟨bech:58⟩").upper())
    )
)
half.kind("wireguard-private", "key type")(
    lambda rng: (
        "[Interface]\nAddress = 10.8.0.2/24\nPrivateKey = "
        + mark(chars(rng, ALPHABETS["b"], 43) + "=")
        + "\nListenPort = 51820"
    )
)
half.kind("jwk-ec", "key type")(
    lambda rng: (
        '{\n  "kty": "EC",\n  "crv": "P-256",\n  "x": "'
        + chars(rng, ALPHABETS["bu"], 43)
        + '",\n  "y": "'
        + chars(rng, ALPHABETS["bu"], 43)
        + '",\n  "d": "'
        + mark(chars(rng, ALPHABETS["bu"], 43))
        + '"\n}'
    )
)
half.kind("pkcs12-base64", "key type")(
    lambda rng: (
        rng.choice(("P12_BASE64", "APPLE_CERT_P12", "KEYSTORE_BASE64", "PFX_DATA"))
        + "=MII"
        + mark(chars(rng, ALPHABETS["b"], 2600) + "==")
    )
)
half.token("nostr-nsec", "key type", "nsec1⟨bech:58⟩")
half.kind("tailscale-node-key", "key type")(
    lambda rng: '"PrivateNodeKey": "privkey:' + mark(chars(rng, ALPHABETS["h"], 64)) + '"'
)
