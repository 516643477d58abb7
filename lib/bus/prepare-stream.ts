import { isDeepStrictEqual } from 'node:util';
import type { JetStreamManager, StreamConfig } from '@nats-io/jetstream';
import { messageOf } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { codeOf, errorCodes } from './bus-error.ts';
import type { WantedStream } from './streams.ts';

interface PrepareDeps {
  readonly streams: Pick<JetStreamManager['streams'], 'info' | 'add' | 'update'>;
  readonly logger: Logger;
}

/**
 * Makes a stream, or brings one of an older version or with other retention up to date. Where the server does not
 * allow the change, to an account that may only use what an administrator made, the stream is used as it is.
 */
export async function prepareStream(deps: PrepareDeps, wanted: WantedStream): Promise<void> {
  const found = (await findStream(deps, wanted.name)) ?? (await addStream(deps, wanted));
  const differing = Object.entries(wanted).filter(([key, value]) => {
    const has: unknown = found[key as keyof StreamConfig];
    // The server leaves out what is off.
    return !isDeepStrictEqual(has ?? false, value ?? false);
  });
  if (differing.length === 0) return;
  try {
    await deps.streams.update(wanted.name, Object.fromEntries(differing));
    deps.logger.info({ stream: wanted.name, settings: differing.map(([key]) => key) }, 'stream updated');
  } catch (error) {
    const fields = { stream: wanted.name, settings: differing.map(([key]) => key), problem: messageOf(error) };
    deps.logger.warn(fields, 'stream not updated');
  }
}

async function findStream({ streams }: PrepareDeps, name: string): Promise<StreamConfig | undefined> {
  try {
    return (await streams.info(name)).config;
  } catch (error) {
    if (codeOf(error) === errorCodes.streamNotFound) return undefined;
    throw error;
  }
}

/** Another process may make it at the same time, with settings of its own version. */
async function addStream(deps: PrepareDeps, wanted: WantedStream): Promise<StreamConfig> {
  try {
    const { config } = await deps.streams.add(wanted);
    deps.logger.info({ stream: wanted.name }, 'stream made');
    return config;
  } catch (error) {
    if (codeOf(error) !== errorCodes.nameInUse) throw error;
    return (await deps.streams.info(wanted.name)).config;
  }
}
