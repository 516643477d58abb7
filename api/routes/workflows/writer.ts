import { type AppError, hasReason } from '../../../lib/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { HttpError } from '../../../lib/http/index.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import {
  createKeepRevision,
  type RegisterDeps,
  type RegisterOptions,
  type Registration,
  type Versioned,
} from '../../../lib/registration/index.ts';
import { createKeyedLock } from './keyed-lock.ts';

/** Registers a definition as an object of a namespace. @throws HttpError for what the cluster holds against it. */
export type DefinitionWriter<V extends Versioned> = (
  definition: V,
  options: RegisterOptions,
) => Promise<Registration<V>>;

interface WriterDeps<V extends Versioned> {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly register: (deps: RegisterDeps, definition: V, options: RegisterOptions) => Promise<Registration<V>>;
  /** Takes what was written, so that it is found at once. */
  readonly remember: (definition: V) => void;
  /** The API server's refusal of a write, as an answer. */
  readonly asRefusal: (error: unknown) => unknown;
}

/** Pause before the n-th attempt, for another replica to finish. */
const pauseMs = 10;

export function createDefinitionWriter<V extends Versioned>(deps: WriterDeps<V>): DefinitionWriter<V> {
  const { kube, clock, register, remember, asRefusal } = deps;
  const locked = createKeyedLock();
  const keep = createKeepRevision(kube);
  const pause = (attempt: number): Promise<void> => clock.sleep(pauseMs * attempt);
  return async (definition, options) => {
    try {
      const key = `${options.namespace}/${definition.metadata.name}`;
      const registration = await locked(key, () => register({ kube, keep, pause }, definition, options));
      remember(registration.object);
      return registration;
    } catch (error) {
      throw isVersionTaken(error) ? versionTaken(error) : asRefusal(error);
    }
  };
}

const isVersionTaken = (error: unknown): error is AppError => hasReason(error, 'VersionExists');

function versionTaken(cause: AppError): HttpError {
  const message = `${cause.message}; raise the version, or give force=true`;
  return new HttpError({ code: 'conflict', message, cause });
}
