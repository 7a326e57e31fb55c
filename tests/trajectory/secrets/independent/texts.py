"""Secrets that come with their own surroundings."""

# ruff: noqa: E501 -- a template reads best on one line
from __future__ import annotations

from tests.trajectory.secrets.independent.drawing import UUID


def _block(label: str, lines: int, joint: str = "\n", *, close: bool = True) -> str:
    """A private key in its armour."""
    body = ["«{b64}»"] * lines + ["«{b40}»=="]
    dashes = "-" * 5
    ends = [f"{dashes}END {label}{dashes}"] if close else []
    return joint.join([f"{dashes}BEGIN {label}{dashes}", *body, *ends])


def _numbered(text: str) -> str:
    """The text as a file viewer for agents shows it."""
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), 1))


RSA, OPENSSH, PKCS8 = "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY"

TEXTS: dict[str, tuple[str, ...]] = {
    "private key": (
        "$ cat ~/.ssh/id_rsa\n" + _block(RSA, 24) + "\n$ ",
        "$ cat id_ed25519\n" + _block(OPENSSH, 5),
        _block("EC PRIVATE KEY", 2),
        _block("DSA PRIVATE KEY", 9),
        _block("ENCRYPTED PRIVATE KEY", 20),
        "tls.key: |\n    " + _block(PKCS8, 20, "\n    "),
        '{"type": "service_account", "private_key": "' + _block(PKCS8, 20, "\\n") + '\\n"}',
        "$ head -12 server.key\n" + _block(PKCS8, 10, close=False),
        _numbered("$ cat deploy.pem\n" + _block(RSA, 12)),
        "DEPLOY_KEY=" + repr(_block(OPENSSH, 6)),
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQPGBF«{b56}»\n"
        + "«{b64}»\n" * 12
        + "=«{b4}»\n-----END PGP PRIVATE KEY BLOCK-----",
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n«{b44}»=\nPrivate-MAC: {h64}",
        "# created: 2026-11-02T09:11:00Z\nAGE-SECRET-KEY-1«{U58}»",
        '{"kty": "EC", "crv": "P-256", "x": "{w43}", "y": "{w43}", "d": "«{w43}»"}',
    ),
    "password in url": (
        "postgresql://app:«{q16}»@db.internal:5432/shop",
        "DATABASE_URL=postgres://admin:«{a24}»@10.0.3.7/main?sslmode=require",
        "mysql+pymysql://root:«{P}»@mysql:3306/app",
        "MONGO_URI=mongodb+srv://svc:«{a16}»@cluster0.ab1cd.mongodb.net/?retryWrites=true",
        "redis://:«{a32}»@cache.internal:6379/0",
        "BROKER_URL: amqp://worker:«{q14}»@rabbit:5672/vhost",
        "fatal: unable to access 'https://alice:«{q18}»@git.example.com/team/app.git/'",
        "curl ftp://backup:«{a12}»@files.example.com/dump.sql.gz -O",
        "sqlalchemy.exc.OperationalError: could not connect with postgresql+asyncpg://u1:«{P}»@pg/main",
        "HTTP_PROXY=http://proxyuser:«{a14}»@proxy.corp.example:3128",
        "smtp://mailer%40example.com:«{a16}»@smtp.example.com:587",
        "jdbc:postgresql://db:5432/app?user=app&password=«{a18}»&ssl=true",
    ),
    "git remote": (
        "$ git remote -v\norigin\thttps://ghp_«{a36}»@github.com/acme/app.git (fetch)",
        "git clone https://x-access-token:ghs_«{a36}»@github.com/acme/app.git",
        "git push https://oauth2:glpat-«{w20}»@gitlab.com/acme/app.git main",
        "origin  https://bob:«{v52}»@dev.azure.com/acme/app/_git/app (push)",
        "https://x-token-auth:«{a40}»@bitbucket.org/acme/app.git",
    ),
    "connection string": (
        "Server=tcp:sql1.database.windows.net,1433;Database=app;User ID=sa;Password=«{p16}»;Encrypt=True;",
        "Data Source=db;Initial Catalog=app;Uid=web;Pwd=«{a14}»;",
        "host=db port=5432 dbname=app user=app password=«{a16}» sslmode=require",
        '"DefaultConnection": "Host=pg;Username=app;Password=«{P}»;Database=shop"',
        "DRIVER={ODBC Driver 18 for SQL Server};SERVER=db;UID=etl;PWD=«{a16}»;TrustServerCertificate=yes",
        "DefaultEndpointsProtocol=https;AccountName=acmestore;AccountKey=«{b86}»==;EndpointSuffix=core.windows.net",
        "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«{b43}»=",
        "AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey=«{b86}»==;",
        "HostName=acme.azure-devices.net;DeviceId=dev1;SharedAccessKey=«{b43}»=",
        "psycopg2.connect(\"dbname=app user=app password='«{P}»' host=db\")",
        "spring.datasource.username=app\nspring.datasource.password=«{a20}»",
        "$ cat ~/.pgpass\ndb:5432:shop:app:«{a16}»\n$ ",
    ),
    "signed url": (
        "https://acme.blob.core.windows.net/c/f.zip?sv=2022-11-02&sr=b&sp=r&se=2026-12-01T00:00:00Z&sig=«{a42}»%3D",
        "https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-Signature=«{h64}»",
        "https://storage.googleapis.com/b/o?X-Goog-Expires=900&X-Goog-SignedHeaders=host&X-Goog-Signature=«{h512}»",
        "https://b.s3.amazonaws.com/k?AWSAccessKeyId=AKIA{B16}&Expires=1763800000&Signature=«{a27}»%3D",
        "https://d111.cloudfront.net/v.mp4?Expires=1763800000&Signature=«{w342}»__&Key-Pair-Id=K{U13}",
        "https://maps.example.com/api?address=Berlin&api_key=«{a32}»&format=json",
        "wss://stream.example.com/ws?access_token=«{a40}»",
        "https://discord.com/api/webhooks/{n18}/«{w68}»/slack",
        "https://acme.webhook.office.com/webhookb2/@TENANT@/IncomingWebhook/«{h32}»/@ID@".replace(
            "@TENANT@", f"{UUID}@{UUID}"
        ).replace("@ID@", UUID),
    ),
    "http header": (
        "> GET /v1/me HTTP/1.1\n> Host: api.example.com\n> Authorization: Basic «{C}»\n> Accept: */*",
        "curl -H 'Authorization: Basic «{C}»' https://registry.example.com/v2/",
        "Authorization: Bearer «{a40}»\nContent-Type: application/json",
        "authorization: token «{h40}»",
        "curl -H 'X-Api-Key: «{a32}»' https://api.example.com/items",
        "-H 'api-key: «{h32}»' -d '{\"input\": \"hi\"}'",
        'headers = {"x-goog-api-key": "AIza«{w35}»", "Accept": "*/*"}',
        "curl --header 'PRIVATE-TOKEN: «{a20}»' https://gitlab.example.com/api/v4/projects",
        "curl -X GET -H 'X-Auth-Email: ops@example.com' -H 'X-Auth-Key: «{h37}»' https://api.cloudflare.com/client/v4",
        "curl -H 'DD-API-KEY: «{h32}»' -H 'DD-APPLICATION-KEY: «{h40}»' https://api.datadoghq.com/api/v1/validate",
        "X-Vault-Token: «{a26}»",
        "Authorization: SSWS «00{w40}»",
        "'headers': {'Authorization': 'Bearer {J}.«{w43}»'}",
        'Authorization: Digest username="ann", realm="x"\nProxy-Authorization: Basic «{C}»',
        "Authorization: AWS4-HMAC-SHA256 Credential=AKIA«{B16}»/20261121/us-east-1/s3/aws4_request",
        "X-Amz-Security-Token: IQoJb3JpZ2luX2Vj«{b320}»",
    ),
    "cookie": (
        "Cookie: theme=dark; sessionid=«{v32}»; lang=en",
        "Set-Cookie: session=«{w80}»; Path=/; HttpOnly; Secure",
        "set-cookie: JSESSIONID=«{H32}»; Path=/app; HttpOnly",
        "curl -b 'PHPSESSID=«{v26}»' https://shop.example.com/admin",
        "< Set-Cookie: connect.sid=s%3A«{w32}.{a43}»; HttpOnly",
        "Cookie: auth_token=«{h40}»; guest_id=v1",
    ),
    "package credentials": (
        "$ cat ~/.npmrc\n//registry.example.com/:_authToken=npm_«{a36}»",
        "//npm.example.com/:_authToken=«" + UUID + "»\nalways-auth=true",
        "//npm.example.com/:username=ci\n//npm.example.com/:_password=«{E}»",
        "_auth=«{C}»\nemail=ci@example.com",
        "[pypi]\nusername = __token__\npassword = pypi-AgEIcHlwaS5vcmc«{w150}»",
        "[internal]\nrepository = https://pkgs.example.com/simple\nusername = ci\npassword = «{P}»",
        "machine api.github.com\n  login bob\n  password «{a24}»",
        "machine git.example.com login ci password «{P}»",
        '{"auths": {"registry.example.com": {"auth": "«{C}»"}}}',
        "<server>\n  <id>nexus</id>\n  <username>ci</username>\n  <password>«{a18}»</password>\n</server>",
        '[registry]\ntoken = "cio«{a32}»"',
        "---\n:rubygems_api_key: rubygems_«{h48}»",
        "twine upload -u __token__ -p pypi-AgEIcHlwaS5vcmc«{w150}» dist/*",
    ),
    "kubernetes and docker": (
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  username: YWRtaW4=\n  password: «{E}»",
        "kind: Secret\ntype: Opaque\nstringData:\n  api-token: «{a32}»",
        "kubectl create secret generic db --from-literal=password=«{a18}» -n prod",
        "docker login -u ci -p «{a24}» registry.example.com",
        "helm upgrade app ./chart --set postgresql.auth.password=«{a16}» --wait",
        "users:\n- name: admin\n  user:\n    client-key-data: «{b400}»==",
        "users:\n- name: sa\n  user:\n    token: {J}.«{w342}»",
        "services:\n  db:\n    image: postgres:16\n    environment:\n      POSTGRES_PASSWORD: «{P}»",
        "      Environment:\n        REDIS_PASSWORD:  «{a24}»\n        LOG_LEVEL:  info",
        "kubeadm join 10.0.0.5:6443 --token «{v6}.{v16}» --discovery-token-ca-cert-hash sha256:{h64}",
        "docker swarm join --token SWMTKN-1-«{v50}-{v25}» 10.0.0.4:2377",
    ),
    "command line password": (
        "mysql -h db -u root -p«{a14}» shop < dump.sql",
        "PGPASSWORD=«{a16}» psql -h db -U app -c 'select 1'",
        "sshpass -p '«{P}»' ssh deploy@10.0.0.4 uptime",
        "curl -u admin:«{P}» https://jenkins.example.com/api/json",
        "curl --user 'AC{h32}:«{h32}»' https://api.twilio.com/2010-04-01/Accounts.json",
        "redis-cli -h cache -a «{a24}» ping",
        "mongodump --username=root --password=«{a16}» --db shop",
        "wget --user=ann --password='«{P}»' https://files.example.com/a.zip",
        "az login --service-principal -u " + UUID + " -p «{a3}8Q~{a34}» --tenant " + UUID,
        "echo '«{P}»' | sudo -S systemctl restart nginx",
        "openssl rsa -in key.pem -passin pass:«{a16}»",
        "ansible-playbook site.yml -e 'ansible_become_password=«{a16}»'",
        "echo 'deploy:«{P}»' | chpasswd",
        "smbclient //nas/share -U 'corp\\ann%«{a14}»'",
        "CREATE USER app WITH PASSWORD '«{a18}»';",
        "ALTER USER 'root'@'localhost' IDENTIFIED BY '«{P}»';",
    ),
    "cloud files": (
        "[default]\naws_access_key_id = AKIA«{B16}»\naws_secret_access_key = «{b40}»",
        "AWS Access Key ID [None]: AKIA«{B16}»\nAWS Secret Access Key [None]: «{b40}»\nDefault region name [None]:",
        '{"AccessKeyId": "ASIA«{B16}»", "SecretAccessKey": "«{b40}»", "SessionToken": "IQoJb3JpZ2luX2Vj«{b240}»"}',
        '"type": "aws_db_instance",\n"attributes": {"engine": "postgres", "password": "«{a20}»", "port": 5432}',
        '"type": "random_password",\n"attributes": {"length": 24, "result": "«{p24}»", "special": true}',
        '"aws_iam_access_key": {"id": "AKIA«{B16}»", "secret": "«{b40}»", "user": "ci"}',
        'provider "aws" {\n  access_key = "AKIA«{B16}»"\n  secret_key = "«{b40}»"\n}',
        '{"client_id": "{n12}-{v32}.apps.googleusercontent.com", "client_secret": "GOCSPX-«{w28}»"}',
        '{"access_token": "ya29.«a0A{w130}»", "refresh_token": "1//0«{w98}»", "expires_in": 3599}',
        '{"appId": "' + UUID + '", "displayName": "ci", "password": "«{a3}8Q~{a34}»"}',
        '{"token_type": "bearer", "access_token": "«{a64}»", "refresh_token": "«{a64}»"}',
        '{"keyName": "key1", "permissions": "FULL", "value": "«{b86}»=="}',
        '<add key="SmtpPassword" value="«{P}»" />',
        "define( 'DB_PASSWORD', '«{a20}»' );\ndefine( 'AUTH_KEY', '«{p64}»' );",
        '<property name="hibernate.connection.password">«{a16}»</property>',
        "wpa_passphrase=«{P}»\nssid=office",
    ),
    "chat": (
        "My OpenAI key is sk-proj-«{w74}T3BlbkFJ{w74}», can you test it?",
        "login with ann / password: «{P}» and check the orders page",
        "The password for the admin account is «{P}». Change it after logging in.",
        "user: ann@example.com\npass: «{a14}»",
        "use token «{h40}» to call the internal API",
        "Passwort: «{P}»",
        "mot de passe : «{P}»",
        "Your temporary password is: «{a12}»",
        "I created an API key for you:\n\n    «{a40}»\n\nKeep it safe.",
        "credentials: ann:«{P}» on https://staging.example.com",
    ),
    "key said again": (
        "$ cat .env\nMISTRAL_API_KEY=@AGAIN@\n$ python show.py\nstarting with @AGAIN@ ... ok",
        "password: @AGAIN@\n---\nI typed @AGAIN@ into the second field and pressed Enter.",
        'export COHERE_API_KEY="@AGAIN@"\n$ node index.js @AGAIN@\nlistening',
        "DD_API_KEY=@AGAIN@\nresponse: invalid key @AGAIN@ for site eu",
    ),
}
