/** What `--help` prints for the scripts that are no commands of operators, by script. @type {Record<string, string>} */
export const USAGES = {
  start: `usage: npm start
starts the service at http://localhost:8080, with its data in ./data; Ctrl-C stops it
settings are environment variables, e.g. PORT=8081 DATA_DIR=/var/lib/gantry npm start; README.md has them all`,
  demo: `usage: npm run demo [-- --documents[=DIR]]
fills the service that runs at BASE_URL (http://localhost:8080) with 2,639 public APIs
  --documents      adds their OpenAPI documents, which are installed once (400 MB)
  --documents=DIR  adds those of a folder: PROVIDER[/SERVICE].json
settings: BASE_URL or PORT; GANTRY_ADMIN_USERNAME and GANTRY_ADMIN_PASSWORD, or GANTRY_TOKEN, an access token`,
  receiver: `usage: npm run receiver
receives webhooks at http://127.0.0.1:9000/ and prints them; Ctrl-C stops it
settings: RECEIVER_PORT (9000); WEBHOOK_SECRET, the secret of the webhook, to check signatures`,
  console: `usage: npm run console
builds the web console, unless it is built`,
  service: `usage: npm run service -- NAME
runs one service by itself: catalog, identity, media, notifier or gateway; docs/operations.md has the settings`,
  cluster: `usage: npm run cluster [-- --replicas N] [--gateways N]
runs the gateway and N replicas of every service (1 to 9, default 2) as separate processes on this machine`,
  bench: `usage: npm run bench [-- PART...] [--minutes N] [--json FILE]
       npm run bench -- --against URL [--receiver URL] [--minutes N] [--json FILE]
measures the service, without a PART all of them; or the deployment at URL, which reaches this command at --receiver
settings of --against: GANTRY_TOKEN, an access token, or GANTRY_ADMIN_USERNAME and GANTRY_ADMIN_PASSWORD`,
  screenshots: `usage: npm run screenshots
writes the pictures of the documentation, with Chromium`,
  release: `usage: npm run release -- VERSION
makes a release: version, changelog, commit, tag and list of packages`,
  test: `usage: npm test [-- --filter=WORKSPACE]
checks formatting and types, and runs the tests that need only Node`,
  check: `usage: npm run check
checks formatting, lint rules, types, imports, sizes, and that no code or dependency is unused`,
  journeys: `usage: npm run journeys [-- --filter=WORKSPACE]
runs the tests with several processes, servers, faults and browsers`,
  soak: `usage: npm run soak [-- --filter=WORKSPACE]
runs random histories, faults under load and a million webhook deliveries; takes an hour or two`,
}
