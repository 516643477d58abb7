// The provider's bundle comes packed, since it would otherwise be near the limit of a ConfigMap.
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

writeFileSync('/tmp/oidc.mjs', gunzipSync(readFileSync(new URL('oidc.js.gz', import.meta.url))));
await import('/tmp/oidc.mjs');
