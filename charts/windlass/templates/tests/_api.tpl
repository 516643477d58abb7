{{/* Requests of `helm test` to the API. */}}
{{- define "windlass.test.api" -}}
const { BASE, INTERNAL, TOKEN } = process.env;
let failed = 0;
async function check(what, url, want, options = {}) {
  try {
    const response = await fetch(url, { ...options, signal: AbortSignal.timeout(10000) });
    const text = await response.text();
    if (!want(response.status, text)) throw new Error(`${response.status} ${text.slice(0, 200)}`);
    console.log(`ok: ${what}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED: ${what}: ${error.cause?.message ?? error.message}`);
  }
}
const executions = `${BASE}/v1/workflows/executions`;
const authorization = { headers: { authorization: `Bearer ${TOKEN}` } };
await check('the service runs', `${BASE}/health`, (status) => status === 200);
await check('a replica is ready', `${INTERNAL}/ready`, (status) => status === 200);
await check('metrics stay inside', `${BASE}/metrics`, (status) => status === 404);
await check('its description is served', `${BASE}/openapi.json`, (status, text) => JSON.parse(text).openapi.startsWith('3.1'));
await check('no client comes in without a token', executions, (status) => status === 401);
if (TOKEN) await check('the token is accepted', executions, (status) => status === 200, authorization);
process.exit(failed === 0 ? 0 : 1);
{{- end -}}
