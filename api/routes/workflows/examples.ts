/** Examples of the contracts; a test holds each against its schema. */
export const manifestExample = `apiVersion: windlass.dev/v1
kind: Workflow
metadata:
  name: review
  version: 1.2.0
  description: Asks before it deploys.
  output_schema: {type: object, properties: {verdict: {type: string}}}
  output_template: {verdict: "{{ask.output}}"}
spec:
  initial_state: ask
  states:
    ask:
      kind: Human
      prompt: Deploy {{input.service}}?
      transitions: []
`;

export const identityExample = {
  workflow_id: '6c0a3c52-8a52-4a8e-9c0e-6d7d6a0c9f11',
  name: 'review',
  version: '1.2.0',
  scope: 'tenant',
};

export const summaryExample = {
  ...identityExample,
  description: 'Asks before it deploys.',
  labels: { team: 'web' },
  created_at: '2026-11-02T09:30:00Z',
  ready: true,
};

export const definitionExample = {
  apiVersion: 'windlass.dev/v1',
  kind: 'Workflow',
  metadata: {
    name: 'review',
    version: '1.2.0',
    description: 'Asks before it deploys.',
    output_schema: { type: 'object', properties: { verdict: { type: 'string' } } },
    output_template: { verdict: '{{ask.output}}' },
  },
  spec: {
    initial_state: 'ask',
    states: { ask: { kind: 'Human', prompt: 'Deploy {{input.service}}?', transitions: [] } },
  },
  workflow_id: identityExample.workflow_id,
  scope: 'tenant',
  created_at: summaryExample.created_at,
  ready: true,
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Accepted',
      message: 'version 1.2.0 is registered',
      lastTransitionTime: summaryExample.created_at,
      observedGeneration: 3,
    },
  ],
};
