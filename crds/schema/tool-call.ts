import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { registeredNamePattern } from '../tool-name.ts';
import type { KubernetesObject } from './object.ts';
import { cel, durationPattern, oneOf, timestamp } from './parts.ts';
import { Cancel } from './workflow-execution.ts';

const Parent = Type.Object(
  {
    name: Type.String({ maxLength: limits.objectNameLength, description: 'Name of the WorkflowExecution.' }),
    uid: Type.String({ maxLength: limits.uidLength, description: 'Its uid.' }),
    state: Type.String({ maxLength: limits.nameLength, description: 'Its state that makes the call.' }),
    visit: Type.Integer({ minimum: 1, description: 'The visit of that state.' }),
  },
  { additionalProperties: false, description: 'Which execution makes the call.' },
);

export const ToolCallSpec = Type.Object(
  {
    tool: Type.String({ pattern: registeredNamePattern, description: 'Name of the tool.' }),
    arguments: Type.String({
      maxLength: limits.toolCallArgumentsBytes,
      description: `Its arguments, the JSON text of one object of at most ${limits.toolCallArgumentsBytes} bytes.`,
    }),
    security_context: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.objectNameLength,
        description: 'SecurityContext in the same namespace that bounds the call. Default: the one named default.',
      }),
    ),
    subject: Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'User for whom the call is made: the one who started the execution, else workflow:NAME.',
    }),
    timeout: Type.String({ pattern: durationPattern, description: 'Longest time of the call.' }),
    parent: Parent,
    cancel: Type.Optional(Cancel),
  },
  {
    additionalProperties: false,
    ...cel(
      {
        rule: '!has(oldSelf.cancel) || (has(self.cancel) && self.cancel == oldSelf.cancel)',
        message: 'cancel: cannot be taken back',
      },
      {
        rule: "self.tool == oldSelf.tool && self.arguments == oldSelf.arguments && self.subject == oldSelf.subject && self.timeout == oldSelf.timeout && self.parent == oldSelf.parent && (has(self.security_context) ? self.security_context : '') == (has(oldSelf.security_context) ? oldSelf.security_context : '')",
        message: 'a call is immutable but for its cancel; it is made once',
      },
    ),
  },
);
export type ToolCallSpec = Static<typeof ToolCallSpec>;

/** The one replica that may run the call. */
const ToolCallClaim = Type.Object(
  {
    by: Type.String({ maxLength: 128, description: 'The replica of the API, with the event bus that it is known by.' }),
    at: timestamp({ description: 'When it claimed the call; the tool runs after that.' }),
    attempt: Type.Integer({
      minimum: 1,
      description:
        'Claims so far, without those that stopping replicas gave back; only an idempotent tool has a second one.',
    }),
  },
  { additionalProperties: false, description: 'Which replica runs the call.' },
);
export type ToolCallClaim = Static<typeof ToolCallClaim>;

const ToolCallResult = Type.Object(
  {
    content: Type.String({ maxLength: limits.toolCallResultBytes, description: 'The answer of the tool.' }),
    truncated: Type.Optional(Type.Boolean({ description: 'Whether the answer was longer.' })),
  },
  { additionalProperties: false },
);
export type ToolCallResult = Static<typeof ToolCallResult>;

const toolCallPhases = ['running', 'completed', 'failed', 'cancelled'] as const;

/** Written by the API alone: no controller runs tools. */
export const ToolCallStatus = Type.Object(
  {
    phase: Type.Optional(
      oneOf(toolCallPhases, { description: 'running, completed, failed or cancelled; absent: no replica has it.' }),
    ),
    claim: Type.Optional(ToolCallClaim),
    finished_at: Type.Optional(timestamp({ description: 'When it ended.' })),
    reason: Type.Optional(Type.String({ maxLength: 128, description: 'Why it failed, in one word.' })),
    message: Type.Optional(Type.String({ maxLength: 2_048, description: 'The same in one sentence.' })),
    result: Type.Optional(ToolCallResult),
  },
  { additionalProperties: false },
);
export type ToolCallStatus = Static<typeof ToolCallStatus>;

export type ToolCall = KubernetesObject<'ToolCall', ToolCallSpec, ToolCallStatus>;
