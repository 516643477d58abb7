import { AppError } from '../../lib/errors.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { jsonText } from '../../lib/json-text.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { answer, failure } from '../../lib/tools/answers.ts';
import type { ToolAnswer, ToolArguments, ToolRun } from '../../lib/tools/tool.ts';
import type { CallRooms, RoomyCaller } from './call-room.ts';

/** Gives the value that a tool answers with, as JSON. @throws AppError for what the caller can mend. */
export type Give = (caller: RoomyCaller, args: ToolArguments, signal: AbortSignal) => Promise<unknown>;

/** An argument that the schema of the tool requires as text. */
export const textArgument = (args: ToolArguments, name: string): string => args[name] as string;

/** Those of the named arguments that have a value. */
export const given = (args: ToolArguments, ...names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.flatMap((name) => (args[name] === undefined || args[name] === null ? [] : [[name, args[name]]])),
  );

/** The `INVALID_ARGUMENT: …` error, for mistakes in arguments that no schema expresses. */
export const invalid = (message: string): AppError => new AppError('invalid', message, { reason: 'INVALID_ARGUMENT' });

/** Characters of an answer; a model reads no more. */
export const answerLength = 1_048_576;

/** The tool that answers with the value, whose memory counts until it is cut to the answer. */
export const runOf = (rooms: CallRooms, give: Give): ToolRun =>
  runIn(rooms, async (caller, args, signal) => {
    const content = jsonText(await give(caller, args, signal)) ?? 'null';
    return content.length <= answerLength ? answer(content) : tooLarge();
  });

const tooLarge = (): ToolAnswer => failure('TOO_LARGE', 'the answer is too large; ask for less');

type Act = (caller: RoomyCaller, args: ToolArguments, signal: AbortSignal) => Promise<ToolAnswer>;

/** The tool that does this, with room for what each call of it reads. */
export function runIn(rooms: CallRooms, act: Act): ToolRun {
  return {
    kind: 'api',
    async run(caller, args, signal) {
      using room = rooms.open(caller, signal);
      try {
        return await act({ ...caller, room }, args, signal);
      } catch (error) {
        if (error instanceof AppError) return explained(error);
        throw error;
      }
    },
  };
}

const words: Readonly<Record<string, string>> = {
  not_found: 'NOT_FOUND',
  forbidden: 'PERMISSION_DENIED',
  conflict: 'CONFLICT',
  already_exists: 'CONFLICT',
  limit_exceeded: 'LIMIT_EXCEEDED',
};

/** A refusal of an operation is an answer of the tool; our own faults are not explained. */
function explained(error: AppError): ToolAnswer {
  if (error instanceof HttpError) {
    const { code, error: text, message, details = [] } = error.options;
    // The message may be that of the first place.
    const shown = new Set([text, message, ...details.map((one) => `${one.path} ${one.message}`)].filter(Boolean));
    return failure(words[code] ?? 'REFUSED', [...shown].join('; ') || code);
  }
  // A refusal of our own account by the API server is no word for a model.
  if (error instanceof KubeError) throw error;
  const word = words[error.code] ?? (error.code === 'invalid' ? error.reason : undefined);
  if (word === undefined) throw error;
  return failure(word, error.message);
}
