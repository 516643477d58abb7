/** Examples of the contracts; a test holds each against its schema. */
export const manifestExample = `apiVersion: windlass.dev/v1
kind: Agent
metadata:
  name: reviewer
  version: 1.2.0
  description: Reviews a change.
spec:
  runtime: {language: python, version: "3.12", model: default}
  task:
    instruction: "Review this change: {{input}}"
  tools: [fs.read, cmd.run]
  execution: {tool_validation: true, max_iterations: 3}
  security:
    filesystem: {read: [/workspace/**]}
`;

export const identityExample = {
  agent_id: '3f0f6c1e-52a8-4c0e-9b53-0c0f5a3a7d10',
  name: 'reviewer',
  tenant_id: 'acme',
};

export const definitionExample = {
  apiVersion: 'windlass.dev/v1',
  kind: 'Agent',
  metadata: { name: 'reviewer', version: '1.2.0', description: 'Reviews a change.' },
  spec: {
    runtime: { language: 'python', version: '3.12', model: 'default' },
    task: { instruction: 'Review this change: {{input}}' },
    tools: [{ name: 'fs.read' }, { name: 'cmd.run' }],
    execution: { tool_validation: { enabled: true }, max_iterations: 3 },
    security: { filesystem: { read: ['/workspace/**'] } },
  },
  agent_id: identityExample.agent_id,
  tenant_id: 'acme',
  created_at: '2026-11-02T09:30:00Z',
  ready: true,
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Accepted',
      message: 'version 1.2.0 is registered',
      lastTransitionTime: '2026-11-02T09:30:00Z',
      observedGeneration: 1,
    },
  ],
};
