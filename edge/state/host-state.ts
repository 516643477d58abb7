import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readRawPublicKey } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import { openPrivateFolder, type Owner, readPrivate, writePrivate } from './private-files.ts';

/** How the relay is reached. */
export interface RelayAddress {
  /** `host:port`. */
  readonly endpoint: string;
  /** PEM of the authorities that count; absent: those of the system. */
  readonly ca?: string;
  /** Without TLS. */
  readonly insecure: boolean;
}

/** Facts that an enrollment settled for the life of the host. */
export interface HostIdentity extends RelayAddress {
  readonly nodeId: string;
  readonly tenant: string;
  readonly name: string;
  /** Raw keys in base64: of the server's envelopes, and of command tokens. */
  readonly relayKey: string;
  readonly commandKey: string;
  readonly heartbeatMs: number;
  /** Milliseconds since the Unix epoch, as all times here. */
  readonly enrolledAt: number;
}

/** The key of the host with the token that is bound to it. */
export interface HostCredential {
  readonly privateKey: KeyObject;
  readonly token: string;
  readonly receivedAt: number;
  /** How long the token is good, by the server's clock. */
  readonly lifeMs: number;
  /** Interval of heartbeats that came with the token; absent: that of the identity. */
  readonly heartbeatMs?: number;
  /**
   * Keys of rotations whose answers have not come: the server may have taken any of them. One at most, except in a folder of
   * an earlier version, which kept up to eight; the oldest is first.
   */
  readonly pendingKeys: readonly KeyObject[];
}

/** Everything that the daemon keeps of itself, in one folder. */
export interface HostState {
  readonly folder: string;
  identity(): Promise<HostIdentity | undefined>;
  credential(): Promise<HostCredential | undefined>;
  saveCredential(credential: HostCredential): Promise<void>;
  /** The key of an enrollment under way, so that it can be ended after a crash. Made where there is none. */
  enrollmentKey(): Promise<KeyObject>;
  /** Ends an enrollment: the credential first, so that an identity is never without one. */
  enrolled(identity: HostIdentity, credential: HostCredential): Promise<void>;
}

const files = { identity: 'identity.json', credential: 'credential.json', enrolling: 'enrolling.pem' } as const;

/** @throws AppError `forbidden` where others may enter the folder. */
export async function openHostState(folder: string, owner: Owner): Promise<HostState> {
  await openPrivateFolder(folder, owner);
  const path = (file: keyof typeof files): string => join(folder, files[file]);
  const read = (file: keyof typeof files): Promise<string | undefined> => readPrivate(path(file), owner);
  const saveCredential = (credential: HostCredential): Promise<void> =>
    writePrivate(path('credential'), credentialText(credential));
  return {
    folder,
    identity: async () => parsed(await read('identity'), path('identity'), toIdentity),
    credential: async () => parsed(await read('credential'), path('credential'), toCredential),
    saveCredential,
    async enrollmentKey() {
      const kept = await read('enrolling');
      if (kept !== undefined) return createPrivateKey(kept);
      const { privateKey } = generateKeyPairSync('ed25519');
      await writePrivate(path('enrolling'), pemOf(privateKey));
      return privateKey;
    },
    async enrolled(identity, credential) {
      await saveCredential(credential);
      await writePrivate(path('identity'), JSON.stringify(identity, undefined, 2));
      await rm(path('enrolling'), { force: true });
    },
  };
}

/** The public half of a private key. */
export const publicKeyOf = (privateKey: KeyObject): KeyObject => createPublicKey(privateKey);

/** The pinned keys of an identity. @throws AppError `invalid` */
export const pinnedKeys = ({
  relayKey,
  commandKey,
}: HostIdentity): { readonly relay: KeyObject; readonly command: KeyObject } => ({
  relay: readRawPublicKey(Buffer.from(relayKey, 'base64'), 'relay_public_key'),
  command: readRawPublicKey(Buffer.from(commandKey, 'base64'), 'command_public_key'),
});

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

const credentialText = ({ privateKey, pendingKeys, ...rest }: HostCredential): string =>
  JSON.stringify({ ...rest, privateKey: pemOf(privateKey), pendingKeys: pendingKeys.map(pemOf) }, undefined, 2);

type Fields = Readonly<Record<string, unknown>>;

function parsed<T>(text: string | undefined, path: string, read: (fields: Fields) => T): T | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return read(value);
  } catch {
    // The same sentence for every kind of damage; the content is secret.
  }
  throw new AppError('invalid', `${path} is damaged; enroll this host again with enroll --replace`, {
    reason: 'StateDamaged',
  });
}

const textAt = (fields: Fields, name: string): string => {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new TypeError(name);
};

const textsAt = (fields: Fields, name: string): readonly string[] => {
  const value = fields[name];
  if (Array.isArray(value) && value.every((member) => typeof member === 'string')) return value;
  throw new TypeError(name);
};

const numberAt = (fields: Fields, name: string): number => {
  const value = fields[name];
  if (typeof value === 'number') return value;
  throw new TypeError(name);
};

function toIdentity(fields: Fields): HostIdentity {
  return {
    endpoint: textAt(fields, 'endpoint'),
    insecure: fields['insecure'] === true,
    ...(typeof fields['ca'] === 'string' ? { ca: fields['ca'] } : {}),
    nodeId: textAt(fields, 'nodeId'),
    tenant: textAt(fields, 'tenant'),
    name: textAt(fields, 'name'),
    relayKey: textAt(fields, 'relayKey'),
    commandKey: textAt(fields, 'commandKey'),
    heartbeatMs: numberAt(fields, 'heartbeatMs'),
    enrolledAt: numberAt(fields, 'enrolledAt'),
  };
}

function toCredential(fields: Fields): HostCredential {
  return {
    privateKey: createPrivateKey(textAt(fields, 'privateKey')),
    token: textAt(fields, 'token'),
    receivedAt: numberAt(fields, 'receivedAt'),
    lifeMs: numberAt(fields, 'lifeMs'),
    ...(typeof fields['heartbeatMs'] === 'number' ? { heartbeatMs: fields['heartbeatMs'] } : {}),
    pendingKeys: textsAt(fields, 'pendingKeys').map((pem) => createPrivateKey(pem)),
  };
}
