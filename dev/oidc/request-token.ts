/** Prints an access token of the development provider; dev/oidc/token calls it. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { serviceAccountToken, userToken } from './sign-in.ts';
import { describeFailure } from './token-failure.ts';

const usage = `usage: dev/oidc/token --user NAME --tenant TENANT [--role ROLE]... [OPTION...]
       dev/oidc/token --service-account NAME [--role ROLE]... [OPTION...]

Prints an access token of the development provider, for curl and scripts.

  --user NAME             a person, by the authorization code flow
  --tenant TENANT         the person's tenant
  --service-account NAME  a machine, by client credentials; it names its tenant with the header X-Tenant-Id
  --role ROLE             svc:operator or svc:admin; may be repeated
  --issuer URL            which provider (the one of make demo)
  --ca FILE               its certificate authority
`;

const { values } = parseArgs({
  options: {
    user: { type: 'string' },
    'service-account': { type: 'string' },
    tenant: { type: 'string' },
    role: { type: 'string', multiple: true, default: [] },
    issuer: { type: 'string' },
    ca: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function fail(problem: string): never {
  process.stderr.write(`${problem}\n\n${usage}`);
  process.exit(2);
}

function readAuthority(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    return fail(`--ca ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const { issuer, tenant, role: roles, user, 'service-account': account } = values;
if (issuer === undefined) fail('no --issuer: make demo installs a provider');
if ((user === undefined) === (account === undefined)) fail('give either --user or --service-account');
const provider = { issuer, ca: values.ca === undefined ? undefined : readAuthority(values.ca) };
try {
  const token =
    user === undefined
      ? await serviceAccountToken(provider, { name: account ?? '', roles })
      : await userToken(provider, { name: user, tenant, roles });
  process.stdout.write(`${token}\n`);
} catch (error) {
  process.stderr.write(`${describeFailure(error, issuer)}\n`);
  process.exit(1);
}
