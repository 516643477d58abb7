import { type TSchema, Type } from 'typebox';
import { labelNamePattern } from '../../crds/label-name.ts';
import { State } from '../../crds/schema/state.ts';
import { WorkflowManifest } from '../../crds/schema/workflow-manifest.ts';
import { createOpenApiDocument } from '../../lib/http/openapi/document.ts';
import { pascalCase } from '../../lib/http/openapi/pascal-case.ts';
import { type JsonObject, variantSchemas } from '../../lib/http/openapi/schema-writer.ts';
import manifest from '../../package.json' with { type: 'json' };
import { contracts } from '../routes/contracts.ts';
import { Execution, ExecutionSummary } from '../routes/executions/execution-object.ts';
import { ExecutionEvent, eventFields } from '../routes/executions/stream/event-schema.ts';
import { ApprovalRequest, ListedApprovalRequest } from '../routes/human-approvals/contract.ts';
import {
  WorkflowDefinition,
  WorkflowIdentity,
  WorkflowRegistration,
  WorkflowSummary,
  WorkflowVersion,
} from '../routes/workflows/schema.ts';

const description = `Workflows, executions, approvals, stimuli and billing of Windlass.

Every answer other than 200 is a JSON object with \`error\` and \`code\`, which never change for the same cause, and a
\`message\` for people. Request bodies and query parameters are strict: what is not described is refused, with
its place under \`details\`. Objects of other tenants are answered exactly like ones that do not exist.`;

const tags = [
  { name: 'Workflows', description: 'Definitions: register, read, list, delete, and move between scopes.' },
  { name: 'Executions', description: 'Runs of workflows: start, watch, answer, cancel.' },
  { name: 'Agents', description: 'Definitions of agents: register, find, list, read, delete.' },
  { name: 'Agent executions', description: 'Runs of agents: start, follow, read, cancel.' },
  { name: 'Edge hosts', description: 'Machines of users that run tools: enroll, list, tag, revoke.' },
  { name: 'Edge groups', description: 'Hosts that are named together.' },
  { name: 'Fleet', description: 'One tool over many hosts: preview, run, cancel, history.' },
  { name: 'Human approvals', description: 'Executions that wait for a decision.' },
  { name: 'Volumes', description: 'Storage for files of executions.' },
  { name: 'Tools', description: 'Calls that agents sign.' },
  { name: 'Stimuli', description: 'Events from outside that start workflows.' },
  { name: 'Billing', description: 'Prices, subscriptions and invoices, where a payment provider is configured.' },
  { name: 'Service', description: 'The service itself.' },
];

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token of the OpenID Connect provider that the installation trusts.',
  },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Svc-Signature',
    description: "`sha256=` and the HMAC-SHA256 of the body's bytes in hexadecimal, under the secret of the source.",
  },
};

/** Under names of their own: generators name an unnamed schema after its place, and repeat the same one. */
const events = Object.entries<TSchema>(eventFields).map(([type, fields]) => [pascalCase(type), fields] as const);

const schemas: Readonly<Record<string, TSchema>> = {
  ...Object.fromEntries(events),
  ApprovalRequest,
  Execution,
  ExecutionEvent,
  ExecutionSummary,
  ListedApprovalRequest,
  WorkflowDefinition,
  WorkflowIdentity,
  WorkflowManifest,
  WorkflowManifestSpec: WorkflowManifest.properties.spec,
  WorkflowRegistration,
  WorkflowSummary,
  WorkflowVersion,
  ...variantSchemas(State, 'State'),
};

const callerHeaders = Type.Object({
  'X-Tenant-Id': Type.Optional(
    Type.String({
      pattern: labelNamePattern,
      description: 'The tenant that a service account acts for. Tokens of people ignore it.',
    }),
  ),
});

/** The OpenAPI document of the public listener. */
export function openApiDocument(): JsonObject {
  const license = { name: 'Apache License 2.0', identifier: manifest.license };
  const { version } = manifest;
  return createOpenApiDocument(contracts, {
    title: 'Windlass API',
    version,
    description,
    license,
    tags,
    securitySchemes,
    schemas,
    callerHeaders,
  });
}
