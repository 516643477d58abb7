import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../lib/errors.ts';
import { type MergedConfig, openMergedConfig } from '../config/merged-config.ts';
import { readLocalConfig } from '../config/read-config.ts';
import type { LocalConfig } from '../config/schema.ts';
import { type HostCredential, type HostState, type HostIdentity } from '../state/host-state.ts';
import type { World } from '../world.ts';

/** Options of the commands that work with an enrolled host. */
export interface HostOptions {
  readonly state: string;
  readonly config: string;
}

/** An enrolled host, as its files say. */
export interface EnrolledHost {
  readonly state: HostState;
  readonly identity: HostIdentity;
  readonly credential: HostCredential;
  readonly config: MergedConfig;
}

/** @throws AppError `not_found` for a host that is not enrolled, ConfigError, or `forbidden` for files that others reach. */
export async function openHost(world: World, options: HostOptions, state: HostState): Promise<EnrolledHost> {
  const [identity, credential] = [await state.identity(), await state.credential()];
  if (identity === undefined || credential === undefined)
    throw new AppError('not_found', `${options.state} holds no enrolled host; run windlass-edge enroll first`, {
      reason: 'NotEnrolled',
    });
  const local = await localConfig(options.config);
  return {
    state,
    identity,
    credential,
    config: await openMergedConfig(local, join(options.state, 'pushed.json'), world.owner),
  };
}

/** A host without a file has an empty configuration, so that it runs nothing before contexts are pushed. */
async function localConfig(path: string): Promise<LocalConfig> {
  try {
    return readLocalConfig(await readFile(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    if (code === undefined || error instanceof AppError) throw error;
    throw new AppError('invalid', `${path} cannot be read: ${code}`, { reason: 'ConfigInvalid', cause: error });
  }
}
