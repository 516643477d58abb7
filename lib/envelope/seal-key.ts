import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { readKeyPair } from '../keys/private-key.ts';
import type { Logger } from '../logger.ts';

/** spec 3 §2.2: `iss` and `aud` of every SEAL token. */
export const sealTokenVariables = {
  SEAL_GATEWAY_SEAL_JWT_ISSUER: Type.String({ minLength: 1, maxLength: 253, default: 'windlass' }),
  SEAL_GATEWAY_SEAL_JWT_AUDIENCE: Type.String({ minLength: 1, maxLength: 253, default: 'windlass-tools' }),
} as const;

/** Settings of the tokens that sign sessions in. */
export const sealVariables = {
  /** File with the private Ed25519 key that signs SEAL tokens, as PEM (PKCS #8); unset: a key of this process alone. */
  WINDLASS_SEAL_KEY: Type.Optional(Type.String({ minLength: 1 })),
  ...sealTokenVariables,
} as const;
const SealConfig = Type.Object(sealVariables);
type SealConfig = Readonly<Static<typeof SealConfig>>;

/** Issues and checks SEAL tokens. */
export interface SealKey {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly issuer: string;
  readonly audience: string;
}

/**
 * The key of the settings. Without one each process makes a key of its own, and warns: no other replica takes its tokens.
 * @throws ConfigError where the file cannot be read or holds no private Ed25519 key; the message holds nothing of it.
 */
export function loadSealKey(config: SealConfig, readFile: (path: string) => string, logger: Logger): SealKey {
  const { WINDLASS_SEAL_KEY: path } = config;
  if (path === undefined) logger.warn({ variable: 'WINDLASS_SEAL_KEY' }, 'seal key made for this process alone');
  const pair =
    path === undefined
      ? generateKeyPairSync('ed25519')
      : readKeyPair({ variable: 'WINDLASS_SEAL_KEY', path }, readFile);
  return {
    privateKey: pair.privateKey,
    publicKey: pair.publicKey,
    issuer: config.SEAL_GATEWAY_SEAL_JWT_ISSUER,
    audience: config.SEAL_GATEWAY_SEAL_JWT_AUDIENCE,
  };
}
