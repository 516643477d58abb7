import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { AppError, messageOf } from '../errors.ts';
import { configMaps, createUnlessExists, findObject, type KubeClient } from '../kube/index.ts';
import type { Logger } from '../logger.ts';

/** Public halves of the installation's keys: gateway and relay check with them, and hold no private one. */
interface PublicKeys {
  /** Key of the tokens of signed sessions. */
  readonly seal: KeyObject;
  /** Key of enrollment and command tokens; absent where the installation has no edge key. */
  readonly edge?: KeyObject;
}

interface PublicKeysDeps {
  readonly kube: Pick<KubeClient, 'get' | 'create' | 'mergePatch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The namespace of the release. */
  readonly namespace: string;
}

/** The ConfigMap in the namespace of the release, with an entry `<name>.pem` for each key. */
export const publicKeysName = 'windlass-public-keys';

const retryMs = 2_000;
/** An SPKI PEM of any key type that may be used here. */
const longestPem = 4_096;

/** Writes the keys where they differ from those that are written; tries again until it succeeds or `stop` aborts. */
export async function publishPublicKeys(deps: PublicKeysDeps, keys: PublicKeys, stop: AbortSignal): Promise<void> {
  const data = dataOf(keys);
  await untilDone(deps, 'public keys not written', stop, async () => {
    const found = await findObject(deps.kube, configMaps, { namespace: deps.namespace, name: publicKeysName });
    if (found !== undefined && holds(found.data, data)) return true;
    if (found !== undefined)
      await deps.kube.mergePatch(configMaps, refOf(deps), { data: { 'edge.pem': null, ...data } });
    else if ((await createUnlessExists(deps.kube, configMaps, { metadata: refOf(deps), data })) === undefined)
      return undefined;
    return true;
  });
}

/**
 * The keys that the API has written; waits until they are there.
 * @throws AppError `cancelled` when `stop` aborts before.
 */
export async function readPublicKeys(deps: PublicKeysDeps, stop: AbortSignal): Promise<PublicKeys> {
  const keys = await untilDone(deps, 'public keys not there yet', stop, async () => {
    const found = await findObject(deps.kube, configMaps, { namespace: deps.namespace, name: publicKeysName });
    const seal = keyOf(found?.data?.['seal.pem']);
    const edge = keyOf(found?.data?.['edge.pem']);
    return seal && { seal, ...(edge && { edge }) };
  });
  if (keys !== undefined) return keys;
  throw new AppError('cancelled', `the API has not written the ConfigMap ${publicKeysName} yet`);
}

/**
 * The public half of the edge key, once the API has written it: the API of before an upgrade has none.
 * @throws AppError `cancelled` when `stop` aborts before.
 */
export async function readEdgePublicKey(deps: PublicKeysDeps, stop: AbortSignal): Promise<KeyObject> {
  const key = await untilDone(deps, 'public edge key not there yet', stop, async () => {
    const found = await findObject(deps.kube, configMaps, { namespace: deps.namespace, name: publicKeysName });
    return keyOf(found?.data?.['edge.pem']);
  });
  if (key !== undefined) return key;
  throw new AppError('cancelled', `the API has not written its edge key to the ConfigMap ${publicKeysName} yet`);
}

async function untilDone<T>(
  { clock, logger }: PublicKeysDeps,
  message: string,
  stop: AbortSignal,
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  while (!stop.aborted) {
    let reason = 'absent';
    try {
      const done = await attempt();
      if (done !== undefined) return done;
    } catch (error) {
      reason = messageOf(error);
    }
    logger.warn({ configMap: publicKeysName, reason }, message);
    await clock.sleep(retryMs, stop);
  }
  return undefined;
}

const names = ['seal.pem', 'edge.pem'] as const;

const refOf = ({ namespace }: PublicKeysDeps) => ({ namespace, name: publicKeysName });

const dataOf = ({ seal, edge }: PublicKeys): Record<string, string> => ({
  'seal.pem': pemOf(seal),
  ...(edge && { 'edge.pem': pemOf(edge) }),
});

const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString();

const holds = (found: Readonly<Record<string, string>> | undefined, data: Readonly<Record<string, string>>): boolean =>
  names.every((name) => found?.[name] === data[name]);

function keyOf(pem: string | undefined): KeyObject | undefined {
  if (pem === undefined || pem.length > longestPem) return undefined;
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}
