import { type Static, Type } from 'typebox';
import { createValidator } from '../../../crds/validators.ts';
import { conversationLimits } from '../../../lib/conversation/limits.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { nodeConfigLimits } from '../../../lib/node-config/index.ts';

const id = Type.String({ minLength: 1, maxLength: 128 });

interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
}

/** spec 1 §4.5, request `generate`. Messages may hold user content only (requirements AMB-198, ADR 0105). */
const Generate = Type.Object(
  {
    type: Type.Literal('generate'),
    agent_id: id,
    execution_id: id,
    iteration_number: Type.Integer({ minimum: 0 }),
    model_alias: Type.String({ maxLength: 128 }),
    prompt: Type.String({ maxLength: 262_144 }),
    messages: Type.Array(Type.Unsafe<Message>({ type: 'object' }), { maxItems: 100 }),
  },
  { additionalProperties: false },
);
export type Generate = Static<typeof Generate>;

/** spec 1 §4.5, request `dispatch_result`. */
const ToolResultShape = Type.Object(
  {
    type: Type.Literal('dispatch_result'),
    execution_id: id,
    dispatch_id: id,
    exit_code: Type.Integer(),
    stdout: Type.String({ maxLength: nodeConfigLimits.outputBytes }),
    stderr: Type.String({ maxLength: nodeConfigLimits.outputBytes }),
    duration_ms: Type.Integer({ minimum: 0 }),
    truncated: Type.Boolean(),
  },
  { additionalProperties: false },
);
export type ToolResultShape = Static<typeof ToolResultShape>;

const checks = {
  generate: createValidator(Generate, ['body']),
  dispatch_result: createValidator(ToolResultShape, ['body']),
};

/** @throws HttpError 400 where the body names no execution. */
export function executionIdOf(body: { readonly type: string; readonly execution_id?: unknown }): string {
  const { execution_id: given } = body;
  if (typeof given !== 'string' || given === '') throw invalid('execution_id', 'is required and must be a text');
  return given;
}

/** @throws HttpError 400 for an unknown type, or for the first field that is not as it must be. */
export function readShape(body: { readonly type: string }): Generate | ToolResultShape {
  if (!isKnown(body.type)) {
    throw invalid('type', 'must be generate or dispatch_result');
  }
  const [problem] = checks[body.type](body);
  if (problem !== undefined) throw invalid(problem.path, problem.message);
  const shape = body as Generate | ToolResultShape;
  if (shape.type === 'generate') checkMessages(shape);
  return shape;
}

const isKnown = (type: string): type is keyof typeof checks => Object.hasOwn(checks, type);

function checkMessages(shape: Generate): void {
  for (const [index, message] of shape.messages.entries()) {
    const { role, content, ...others } = message;
    const place = `messages[${index}]`;
    if (role !== 'user') throw invalid(`${place}.role`, 'must be user: the conversation is kept by the orchestrator');
    if (typeof content !== 'string') throw invalid(`${place}.content`, 'must be a text');
    const [other] = Object.keys(others);
    if (other !== undefined) throw invalid(`${place}.${other}`, 'is no field of a message; send role and content');
  }
  const most = conversationLimits.podSayingBytes;
  if (Buffer.byteLength(JSON.stringify(textsOf(shape))) > most)
    throw invalid('messages', `must be, with the prompt, at most ${most / 1_024} KiB as JSON; send less`);
}

/** The messages, then the prompt; an empty text says nothing. */
export const textsOf = ({ messages, prompt }: Generate): string[] =>
  [...messages.map(({ content }) => String(content)), prompt].filter((text) => text !== '');

const invalid = (path: string, message: string): HttpError => {
  const place = path.startsWith('body') ? path : `body.${path}`;
  return new HttpError({ code: 'invalid', message: `${place} ${message}`, details: [{ path: place, message }] });
};
