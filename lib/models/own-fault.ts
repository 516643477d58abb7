import { AppError } from '../errors.ts';
import { AttemptError } from './attempt-error.ts';

/** Marks an exception of this process on its way through the package of a provider. */
export class OwnFault extends Error {
  override readonly name = 'OwnFault';

  constructor(cause: unknown) {
    super('an exception of this process', { cause });
  }
}

/** Runs code of ours between the pieces of an answer. @throws AttemptError, where the answer is to blame; OwnFault else. */
export function asOurs<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof AttemptError ? error : new OwnFault(error);
  }
}

/** Codes of a system that lacks something of its own, such as files or ports: they say nothing of the server. */
const shortages: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAGAIN', 'EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

/** The code of the system where it lacked something, at any depth of causes. */
export function shortageIn(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1)
    if ('code' in cause && typeof cause.code === 'string' && shortages.has(cause.code)) return cause.code;
  return undefined;
}

/**
 * The end of a question for an exception of this process. It is no `ModelError`, since another attempt or provider does no better.
 * `ReplicaShort` passes: what asked may ask again later.
 */
export class EndedByUs extends AppError {
  override readonly name = 'EndedByUs';

  constructor(provider: string, { cause }: OwnFault) {
    const short = shortageIn(cause);
    if (short === undefined) super('internal', bugOf(provider), { reason: 'InternalError', cause });
    else super('unavailable', shortOf(provider, short), { reason: 'ReplicaShort', cause });
  }
}

const bugOf = (provider: string): string =>
  `an error of Windlass ended the question to the provider ${provider}, which did not cause it; look for "question to a model failed here" in the logs of the API, and report it`;

const shortOf = (provider: string, code: string): string =>
  `the question to the provider ${provider} was not sent: the replica of the API lacks files, ports or memory (${code}); an operator gives it more`;

/** Facts of an exchange. */
interface Seen {
  readonly failure: AttemptError | OwnFault | undefined;
  readonly isAnswered: boolean;
}

/**
 * Whose doing an exception is. Ours come marked, or before the provider has answered. Those of a package behind that are about an
 * answer that it cannot read, and their words may hold parts of it.
 */
export function meaningOf(error: unknown, { failure, isAnswered }: Seen): AttemptError | OwnFault {
  if (error instanceof OwnFault) return error;
  if (failure !== undefined) return failure;
  if (error instanceof AttemptError) return error;
  return isAnswered ? new AttemptError('malformed', 'sent an answer that cannot be read') : new OwnFault(error);
}

/** Kind of an exception and the places of its code. Words of a package may hold a key, and those of ours a prompt. */
export function framesOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [error.name, ...frames.slice(0, 8).map((line) => line.trim())].join(' ');
}
