import { isUtf8 } from 'node:buffer';
import { limits } from '../../crds/limits.ts';
import { factsLength } from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import { isTooDeep, tooDeep } from '../../lib/nesting.ts';
import { daemonLimits } from '../limits.ts';
import { type Owner, readPrivate, writePrivate } from '../state/private-files.ts';
import { checkShared, parse, whole } from './read-config.ts';
import type { LocalConfig, SharedConfig } from './schema.ts';

/** The configuration of the machine's owner with what operators pushed laid over it. */
export interface MergedConfig {
  /** As it is now; a PushConfig replaces the object. */
  readonly current: LocalConfig;
  /** Id of the last change that was applied; empty before the first. */
  readonly version: string;
  /**
   * Applies a change, a JSON merge patch as YAML or JSON over `labels` and `security_contexts`. Resolves once it counts
   * and is on the disk. A change that is refused changes nothing.
   * @throws AppError `forbidden` where the owner takes none, `limit_exceeded` for one too large, ConfigError for others.
   */
  push(delta: Uint8Array, version: string): Promise<void>;
}

interface Pushed {
  readonly version: string;
  readonly patch: unknown;
}

/**
 * A JSON merge patch (RFC 7396) that does what two do, one after the other: members that are null stay, because they
 * take away what the configuration below has.
 */
function joinPatches(first: unknown, second: unknown): unknown {
  if (!isJsonObject(first) || !isJsonObject(second)) return second;
  const joined = new Map(Object.entries(first));
  for (const [name, value] of Object.entries(second)) joined.set(name, joinPatches(joined.get(name), value));
  return Object.fromEntries(joined);
}

/** The value after a JSON merge patch (RFC 7396). Neither is changed. */
function applyPatch(value: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const members = new Map(isJsonObject(value) ? Object.entries(value) : []);
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) members.delete(name);
    else members.set(name, applyPatch(members.get(name), change));
  }
  return Object.fromEntries(members);
}

/** `file` holds what was pushed before. @throws ConfigError where it fits the owner's configuration no more. */
export async function openMergedConfig(local: LocalConfig, file: string, owner: Owner): Promise<MergedConfig> {
  const stored = await readPrivate(file, owner);
  let pushed: Pushed = stored === undefined ? { version: '', patch: {} } : readPushed(stored);
  let current = local.pushed_config === 'refuse' ? reportable(local) : merge(local, pushed.patch);
  return {
    get current() {
      return current;
    },
    get version() {
      return pushed.version;
    },
    async push(delta, version) {
      if (local.pushed_config === 'refuse')
        throw new AppError(
          'forbidden',
          'pushed_config is refuse in the configuration of this host; its owner must set accept',
          {
            reason: 'PushedConfigRefused',
          },
        );
      const next = { version: version.slice(0, 253), patch: joinPatches(pushed.patch, readDelta(delta)) };
      const merged = merge(local, next.patch);
      const text = JSON.stringify(next);
      if (Buffer.byteLength(text) > daemonLimits.pushedBytes) throw tooLarge();
      await writePrivate(file, text);
      pushed = next;
      current = merged;
    },
  };
}

function readPushed(text: string): Pushed {
  const value: unknown = JSON.parse(text);
  if (isJsonObject(value) && typeof value['version'] === 'string')
    return { version: value['version'], patch: value['patch'] };
  throw whole('that was pushed before cannot be read; remove the file pushed.json of the state folder');
}

function readDelta(delta: Uint8Array): unknown {
  if (delta.byteLength > daemonLimits.pushedBytes) throw tooLarge();
  if (!isUtf8(delta)) throw whole('that was pushed is no UTF-8');
  const value = parse(Buffer.from(delta).toString('utf8'));
  if (!isJsonObject(value)) throw whole('that was pushed must be a map with labels or security_contexts');
  if (isTooDeep(value)) throw whole(`that was pushed ${tooDeep}`);
  return value;
}

function merge(local: LocalConfig, patch: unknown): LocalConfig {
  const { labels, security_contexts } = local;
  const below = { ...(labels && { labels }), ...(security_contexts && { security_contexts }) };
  const shared: SharedConfig = checkShared(applyPatch(below, patch));
  const { labels: _, security_contexts: __, ...own } = local;
  return reportable({ ...own, ...shared });
}

/** The relay ends each stream of a host whose capabilities are larger, so that no later change could mend it. */
function reportable(config: LocalConfig): LocalConfig {
  const { mounts = [], labels = {} } = config;
  const size = Buffer.byteLength(JSON.stringify([mounts.map(({ path }) => path), labels]));
  if (size > daemonLimits.reportedBytes) {
    throw whole(
      `has labels and paths of mounts of ${size} bytes as JSON; at most ${daemonLimits.reportedBytes} are taken`,
    );
  }
  const length = factsLength({ labels });
  if (length <= daemonLimits.reportedLabels) return config;
  throw whole(
    `has labels of ${length} characters together, where each label counts as ${limits.edgeTextCharge} more; ` +
      `at most ${daemonLimits.reportedLabels} are taken: use fewer or shorter ones`,
  );
}

const tooLarge = (): AppError =>
  new AppError('limit_exceeded', `pushed configuration takes at most ${daemonLimits.pushedBytes} bytes in all`, {
    reason: 'PushedConfigTooLarge',
  });
