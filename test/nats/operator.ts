import { nkeys } from '@nats-io/transport-node';

/** A NATS operator with one account and one of its users, as `nsc` would make them. */
interface Operator {
  /** Keys by which a server's configuration trusts it. */
  readonly config: string;
  /** Content of the user's credentials file. */
  readonly credentials: string;
}

type KeyPair = ReturnType<typeof nkeys.createUser>;

const unlimited = { subs: -1, data: -1, payload: -1 };
const accountLimits = {
  ...unlimited,
  conn: -1,
  leaf: -1,
  imports: -1,
  exports: -1,
  wildcards: true,
  mem_storage: -1,
  disk_storage: -1,
  streams: -1,
  consumer: -1,
};

export function makeOperator(): Operator {
  const [operator, system, account, user] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
    nkeys.createUser(),
  ];
  const accountJwt = (of: KeyPair, limits: object): string =>
    sign(operator, of.getPublicKey(), { type: 'account', version: 2, limits });
  const systemId = system.getPublicKey();
  const operatorJwt = sign(operator, operator.getPublicKey(), {
    type: 'operator',
    version: 2,
    system_account: systemId,
  });
  const userJwt = sign(account, user.getPublicKey(), { type: 'user', version: 2, ...unlimited });
  const { mem_storage: _memory, disk_storage: _disk, ...systemLimits } = accountLimits;
  return {
    config: `operator: ${operatorJwt}
system_account: ${systemId}
resolver: MEMORY
resolver_preload: {
  ${systemId}: ${accountJwt(system, systemLimits)}
  ${account.getPublicKey()}: ${accountJwt(account, accountLimits)}
}
`,
    credentials: [
      '-----BEGIN NATS USER JWT-----',
      userJwt,
      '------END NATS USER JWT------',
      '',
      '-----BEGIN USER NKEY SEED-----',
      Buffer.from(user.getSeed()).toString(),
      '------END USER NKEY SEED------',
      '',
    ].join('\n'),
  };
}

/** A JSON Web Token in the way of NATS: signed with an Ed25519 key whose public half is the issuer. */
function sign(issuer: KeyPair, subject: string, nats: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { jti: subject, iat: Math.floor(Date.now() / 1_000), iss: issuer.getPublicKey(), sub: subject, nats };
  const signed = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(claims)}`;
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`;
}
