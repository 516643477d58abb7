/** Examples of the contracts; a test holds each against its schema. */
const executionId = 'b2b6b9b0-5a0e-4d57-9a47-0f6d7f0e3c21';
const agentId = '3f0f6c1e-52a8-4c0e-9b53-0c0f5a3a7d10';

export const summaryExample = {
  execution_id: executionId,
  name: 'reviewer-0b9f2c1e11',
  agent: 'reviewer',
  agent_id: agentId,
  version: '1.2.0',
  status: 'completed',
  created_at: '2026-01-02T03:04:05Z',
  started_at: '2026-01-02T03:04:06.000Z',
  finished_at: '2026-01-02T03:04:20.250Z',
  iterations: 1,
  tool_calls: 2,
  input_tokens: 1200,
  output_tokens: 240,
  archived: false,
};

export const viewExample = {
  ...summaryExample,
  input: 'Review the change.',
  output: 'Looks good.',
  provider: 'scripted',
  model: 'demo',
};

const event = (id: string, data: object): string => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

export const streamExample = [
  event('17', {
    execution_started: { execution_id: executionId, agent_id: agentId, started_at: '2026-01-02T03:04:06.000Z' },
  }),
  event('18', {
    iteration_started: {
      execution_id: executionId,
      iteration_number: 1,
      action: 'generate',
      started_at: '2026-01-02T03:04:06.010Z',
    },
  }),
  event('25', {
    iteration_completed: {
      execution_id: executionId,
      iteration_number: 1,
      output: 'Looks good.',
      completed_at: '2026-01-02T03:04:20.000Z',
    },
  }),
  event('end', {
    execution_completed: {
      execution_id: executionId,
      final_output: 'Looks good.',
      total_iterations: 1,
      completed_at: '2026-01-02T03:04:20.100Z',
    },
  }),
].join('');

export const recordExample = {
  sequence: 18,
  kind: 'iteration_started',
  at: '2026-01-02T03:04:06.010Z',
  iteration: 1,
  action: 'generate',
};

export const eventsExample = [
  event('18', {
    type: 'iteration_started',
    time: recordExample.at,
    data: { execution_id: executionId, iteration_number: 1, action: 'generate', started_at: recordExample.at },
  }),
  event('19', { type: 'model_asked', time: '2026-01-02T03:04:06.020Z', data: { iteration: 1, call: 1 } }),
  `data: ${JSON.stringify({ type: 'text', time: '2026-01-02T03:04:07.500Z', data: { text: 'Looks ' } })}\n\n`,
].join('');
