import { type Static, Type } from 'typebox';
import { limits } from '../../../crds/limits.ts';
import { timestamp } from '../../../crds/schema/parts.ts';
import { uidPattern } from '../../../crds/uid.ts';
import { defineContract, type ErrorContract } from '../../../lib/http/contract.ts';
import { pageQuery, unknownCursor } from '../../../lib/http/paging.ts';
import { unmatchedResponse } from '../unmatched-response.ts';

const tag = 'Human approvals';
/** In capital letters as well: an id is one of RFC 9562. */
const uuid = uidPattern.replaceAll('a-f', 'a-fA-F');
/** requirements, appendix A. */
const invalidId = 'Invalid request ID';
export const goneText = 'Request not found or already completed';

/** spec 1 §2.3. */
export const ApprovalRequest = Type.Object(
  {
    id: Type.String({
      format: 'uuid',
      description: 'Id of this visit of a state or of this call of a tool; each has its own.',
    }),
    execution_id: Type.String({ format: 'uuid', description: 'The execution that waits.' }),
    prompt: Type.String({ description: 'The question to the reviewer.' }),
    created_at: timestamp({ description: 'When the execution began to wait.' }),
    timeout_seconds: Type.Integer({ minimum: 0, description: 'How long it waits in all; 0: for ever.' }),
  },
  { additionalProperties: false },
);
export type ApprovalRequest = Static<typeof ApprovalRequest>;

/** A request in a list. A page of them is small, however long their prompts are. */
export const ListedApprovalRequest = Type.Object(
  {
    ...ApprovalRequest.properties,
    prompt: Type.String({ description: 'The question to the reviewer; the beginning of a long prompt.' }),
    prompt_truncated: Type.Optional(
      Type.Boolean({ description: 'Present where the prompt is longer; read the request by its id for the whole.' }),
    ),
    prompt_bytes: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Size of the whole prompt, where it is longer; absent for a tool call.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ListedApprovalRequest = Static<typeof ListedApprovalRequest>;

const id = 'd0f1f1d7-6c5e-5c0e-8f0a-52d1a1f0b7a3';
const requestExample: ApprovalRequest = {
  id,
  execution_id: 'a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22',
  prompt: 'Deploy web?',
  created_at: '2026-11-02T09:30:00.000Z',
  timeout_seconds: 3600,
};

const params = Type.Object({ id: Type.String({ pattern: uuid, description: 'Id of the approval request.' }) });
const invalidParams = { status: 400, error: invalidId };
const invalidIdError: ErrorContract = { ...invalidParams, when: 'The id is not a UUID.' };
const gone: ErrorContract = {
  status: 404,
  error: goneText,
  when: 'The request is decided, expired, cancelled, of another tenant, or never was.',
};

const note = (description: string) => Type.Optional(Type.String({ maxLength: 1_024, description }));
const text = (description: string) => Type.String({ maxLength: 65_536, description });
const decided = (status: 'approved' | 'rejected') => ({
  kind: 'json' as const,
  description: 'The decision is stored, and the execution continues with it.',
  schema: Type.Object({ status: Type.Literal(status) }, { additionalProperties: false }),
  example: { status },
});

/** spec 1 §4.3. */
export const listHumanApprovals = defineContract({
  operationId: 'listHumanApprovals',
  method: 'get',
  path: '/v1/human-approvals',
  tag,
  summary: 'List what waits for a decision',
  access: 'bearer',
  // A client that knows of no pages (spec 1 §4.3) sees as much as one can hold, in exactly the form of the
  // specification.
  query: Type.Object(pageQuery('Requests', limits.pageSizeMax), { additionalProperties: false }),
  success: {
    kind: 'json',
    description: 'The pending requests of the tenant, of Human states and of tool calls of agents, the oldest first.',
    schema: Type.Object(
      {
        pending_requests: Type.Array(ListedApprovalRequest),
        next_cursor: Type.Optional(Type.String({ description: 'There when more requests follow.' })),
      },
      { additionalProperties: false },
    ),
    example: { pending_requests: [requestExample] },
  },
  errors: [unknownCursor],
});

export const readHumanApproval = defineContract({
  operationId: 'readHumanApproval',
  method: 'get',
  path: '/v1/human-approvals/{id}',
  tag,
  summary: 'Read what waits for a decision',
  description: `A request that is decided, expired or unknown answers 200 as well, with \`error\` = \`${goneText}\`.`,
  access: 'bearer',
  params,
  invalidParams,
  success: {
    kind: 'json',
    description: 'The request, or that it is there no more.',
    schema: Type.Union([
      Type.Object({ request: ApprovalRequest }, { additionalProperties: false }),
      Type.Object({ error: Type.Literal(goneText) }, { additionalProperties: false }),
    ]),
    example: { request: requestExample },
  },
  errors: [invalidIdError],
});

export const approveHumanApproval = defineContract({
  operationId: 'approveHumanApproval',
  method: 'post',
  path: '/v1/human-approvals/{id}/approve',
  tag,
  summary: 'Approve',
  description:
    'Signals `approved` to the execution; a tool call of an agent runs then. Exactly one of several ' +
    'decisions answers 200. Feedback on a tool call has at most 8,192 characters.',
  access: 'bearer',
  params,
  invalidParams,
  body: {
    kind: 'json',
    required: false,
    schema: Type.Object(
      {
        feedback: Type.Optional(text('Text of `{{human.feedback}}`; without it, or where it is blank, `approved`.')),
        approved_by: note('A note beside the decision. Its author is always the subject of the token.'),
      },
      { additionalProperties: false },
    ),
    example: { feedback: 'Looks good.', approved_by: 'Ada' },
  },
  success: decided('approved'),
  errors: [invalidIdError, gone, unmatchedResponse],
});

export const rejectHumanApproval = defineContract({
  operationId: 'rejectHumanApproval',
  method: 'post',
  path: '/v1/human-approvals/{id}/reject',
  tag,
  summary: 'Reject',
  description:
    'Signals `rejected` to the execution; the model of an agent reads the reason. Exactly one of several ' +
    'decisions answers 200. A reason on a tool call has at most 8,192 characters.',
  access: 'bearer',
  params,
  invalidParams,
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        reason: Type.String({ maxLength: 65_536, pattern: '\\S', description: 'Why; `{{human.feedback}}` shows it.' }),
        rejected_by: note('A note beside the decision. Its author is always the subject of the token.'),
      },
      { additionalProperties: false },
    ),
    example: { reason: 'The tests are red.', rejected_by: 'Ada' },
  },
  success: decided('rejected'),
  errors: [invalidIdError, gone, unmatchedResponse],
});
