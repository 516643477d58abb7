import { type Static, Type } from 'typebox';
import { createValidator } from '../../../crds/validators.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { nodeConfigLimits } from '../../../lib/node-config/index.ts';

const id = Type.String({ minLength: 1, maxLength: 128 });

/** spec 1 §4.5, request `generate`. Messages may hold user content only (requirements AMB-198). */
const Generate = Type.Object(
  {
    type: Type.Literal('generate'),
    agent_id: id,
    execution_id: id,
    iteration_number: Type.Integer({ minimum: 0 }),
    model_alias: Type.String({ maxLength: 128 }),
    prompt: Type.String({ maxLength: 262_144 }),
    messages: Type.Array(Type.Unsafe<{ readonly role?: unknown }>({ type: 'object' }), { maxItems: 100 }),
  },
  { additionalProperties: false },
);
export type Generate = Static<typeof Generate>;

/** spec 1 §4.5, request `dispatch_result`. */
const Result = Type.Object(
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
export type Result = Static<typeof Result>;

const checks = { generate: createValidator(Generate, ['body']), dispatch_result: createValidator(Result, ['body']) };

/** @throws HttpError 400 for an unknown type, or for the first field that is not as it must be. */
export function readShape(body: { readonly type: string }): Generate | Result {
  if (!isKnown(body.type)) {
    throw invalid('type', 'must be generate or dispatch_result');
  }
  const [problem] = checks[body.type](body);
  if (problem !== undefined) throw invalid(problem.path, problem.message);
  const shape = body as Generate | Result;
  if (shape.type === 'generate') refuseRoles(shape);
  return shape;
}

const isKnown = (type: string): type is keyof typeof checks => Object.hasOwn(checks, type);

function refuseRoles({ messages }: Generate): void {
  const index = messages.findIndex(({ role }) => role !== 'user');
  if (index >= 0)
    throw invalid(`messages[${index}].role`, 'must be user: the conversation is kept by the orchestrator');
}

const invalid = (path: string, message: string): HttpError => {
  const place = path.startsWith('body') ? path : `body.${path}`;
  return new HttpError({ code: 'invalid', message: `${place} ${message}`, details: [{ path: place, message }] });
};
