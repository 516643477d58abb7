import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { ConfigError } from '../config.ts';
import type { Logger } from '../logger.ts';
import { publicKeysOf } from './public-keys.ts';

/** The settings of the keys that sign checkpoints, and that signed them before. */
export const auditKeyVariables = {
  /** File with a private Ed25519 key as PEM (PKCS #8), the same for all replicas; unset: a key of this process alone. */
  WINDLASS_GATEWAY_AUDIT_KEY: Type.Optional(Type.String({ minLength: 1 })),
  /** Public halves of keys that signed before, PEM (SPKI) one after another: their checkpoints still count. */
  WINDLASS_GATEWAY_AUDIT_FORMER_KEYS: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384 })),
} as const;
const AuditKeyConfig = Type.Object(auditKeyVariables);
type AuditKeyConfig = Readonly<Static<typeof AuditKeyConfig>>;

/**
 * The private key of the setting. Without one the process makes a key, and warns: no reader can check its checkpoints
 * later.
 * @throws ConfigError where the file cannot be read or holds no private Ed25519 key; the message holds nothing of it.
 */
export function loadAuditKey(config: AuditKeyConfig, readFile: (path: string) => string, logger: Logger): KeyObject {
  const { WINDLASS_GATEWAY_AUDIT_KEY: path } = config;
  if (path === undefined) {
    logger.warn({ variable: 'WINDLASS_GATEWAY_AUDIT_KEY' }, 'audit key made for this process alone');
    return generateKeyPairSync('ed25519').privateKey;
  }
  const key = keyOf(path, readFile);
  if (key?.asymmetricKeyType === 'ed25519') return key;
  const problem = 'must name a file that holds a private Ed25519 key as PEM (PKCS #8)';
  throw new ConfigError([{ name: 'WINDLASS_GATEWAY_AUDIT_KEY', problem }]);
}

/** @throws ConfigError for a text that is anything but public Ed25519 keys. */
export function loadFormerKeys({ WINDLASS_GATEWAY_AUDIT_FORMER_KEYS: pem }: AuditKeyConfig): readonly KeyObject[] {
  if (pem === undefined) return [];
  const keys = publicKeysOf(pem);
  if (keys !== undefined) return keys;
  const problem = 'must hold public Ed25519 keys as PEM (SPKI), one after another, and no private key';
  throw new ConfigError([{ name: 'WINDLASS_GATEWAY_AUDIT_FORMER_KEYS', problem }]);
}

function keyOf(path: string, readFile: (path: string) => string): KeyObject | undefined {
  try {
    return createPrivateKey(readFile(path));
  } catch {
    // The reason might hold a part of the file.
    return undefined;
  }
}
