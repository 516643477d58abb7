import { apiVersion } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';

/** A legal workflow that uses every field of the specification at least once. Each call gives a fresh copy. */
export const fullWorkflow = (): Workflow => ({
  apiVersion,
  kind: 'Workflow',
  metadata: {
    name: 'every-field',
    labels: { team: 'platform' },
    annotations: { 'example.org/ticket': 'ABC-1' },
  },
  spec: {
    version: '1.2.3-rc.1+build.5',
    description: 'Uses every field.',
    input_schema: {
      type: 'object',
      required: ['branch'],
      additionalProperties: false,
      properties: {
        branch: { type: 'string', minLength: 1 },
        count: { type: 'integer', minimum: 0 },
        ratio: { type: 'number' },
        dry_run: { type: 'boolean', default: false },
        level: { enum: ['low', 'high'] },
        owner: { type: 'object', properties: { name: { type: 'string' } } },
        tags: { type: 'array', items: { type: 'string' } },
      },
    },
    output_schema: { type: 'object', properties: { log: { type: 'string' }, score: { type: 'number' } } },
    output_template: { log: '{{container.output.stdout}}', score: '{{agent.score}}' },
    initial_state: 'agent',
    max_total_transitions: 100,
    context: { region: 'eu', retries: 3, flags: { fast: true }, list: [1, 'two', null], nothing: null },
    storage: {
      workspace: { storage_class: 'ephemeral', ttl_hours: 24, size_limit_mb: 512 },
      shared_volumes: [
        { name: 'cache', storage_class: 'ephemeral', ttl_hours: 1, size_limit_mb: 64 },
        { name: 'archive', storage_class: 'persistent', volume_id: '8e0bdc27-1f6c-4c28-9f1b-0d4e5c8a1b2c' },
      ],
    },
    states: {
      agent: {
        kind: 'Agent',
        agent: 'reviewer',
        intent: 'Review {{input.branch}}',
        input: '{{intent}} {{blackboard.region}} {{state.feedback}}',
        isolation: 'docker',
        max_state_visits: 20,
        timeout: '1h',
        volumes: [
          { volume: '{{workflow.storage.workspace}}', mount_path: '/work', access_mode: 'read-write' },
          { volume: '{{workflow.storage.shared_volumes.cache}}', mount_path: '/cache', access_mode: 'read-only' },
        ],
        transitions: [
          { condition: 'score_above', threshold: 0.9, target: 'system' },
          { condition: 'score_between', min: 0.5, max: 0.9, target: 'approval' },
          {
            condition: 'score_below',
            threshold: 0.1,
            target: 'agent',
            feedback: 'Scored {{agent.score}}; look again.',
          },
          { condition: 'confidence_above', threshold: 0.5, target: 'system' },
          { condition: 'on_failure', target: 'done' },
        ],
      },
      system: {
        kind: 'System',
        command: 'make test BRANCH={{input.branch}}',
        env: { REGION: '{{workflow.context.region}}' },
        workdir: '/workspace/src',
        max_state_visits: 1,
        timeout: '300s',
        transitions: [
          { condition: 'exit_code_zero', target: 'container' },
          { condition: 'exit_code', value: '2', target: 'approval' },
          { condition: 'exit_code_non_zero', target: 'done' },
        ],
      },
      container: {
        kind: 'ContainerRun',
        name: 'Build the image',
        image: 'registry.example.org/tools/build:1.0',
        image_pull_policy: 'Always',
        command: ['build', '--branch', '{{input.branch}}'],
        shell: true,
        env: { TOKEN_FILE: '/run/token' },
        workdir: '/src',
        volumes: [
          { name: 'workspace', mount_path: '/src', read_only: false },
          { name: 'archive', mount_path: '/archive', read_only: true },
        ],
        resources: { cpu: 500, memory: '512Mi', timeout: '10m' },
        registry_credentials: 'registry-login',
        retry: { max_attempts: 3, backoff: '10s' },
        transitions: [
          { condition: 'on_success', target: 'parallel' },
          { condition: 'on_failure', target: 'approval' },
        ],
      },
      parallel: {
        kind: 'ParallelContainerRun',
        completion: 'any_succeed',
        steps: [
          {
            name: 'lint',
            image: 'busybox:1.36',
            image_pull_policy: 'IfNotPresent',
            command: ['true'],
            shell: false,
            env: { A: 'b' },
            workdir: '/',
            volumes: [{ name: 'cache', mount_path: '/cache' }],
            resources: { cpu: 100, memory: '1Gi', timeout: '5m' },
            registry_credentials: 'registry-login',
          },
          { name: 'unit', image: 'busybox:1.36', command: ['false'], image_pull_policy: 'Never' },
        ],
        transitions: [{ condition: 'always', target: 'panel' }],
      },
      panel: {
        kind: 'ParallelAgents',
        agents: [
          {
            agent: 'judge-a',
            input: '{{parallel.output.lint.stdout}}',
            weight: 2,
            timeout_seconds: 60,
            poll_interval_ms: 500,
          },
          { agent: 'judge-b', weight: 0 },
        ],
        consensus: {
          strategy: 'best_of_n',
          n: 2,
          threshold: 0.7,
          min_agreement_confidence: 0.4,
          agreement: 0.4,
          min_judges_required: 1,
          confidence_weighting: { agreement_factor: 0.6, self_confidence_factor: 0.4 },
        },
        transitions: [
          { condition: 'consensus', threshold: 0.8, agreement: 0.5, target: 'child' },
          { condition: 'all_approved', target: 'child' },
          { condition: 'any_rejected', target: 'approval' },
        ],
      },
      child: {
        kind: 'Subworkflow',
        workflow_id: 'deploy',
        mode: 'blocking',
        result_key: 'deployment',
        input: '{"branch": {{json input.branch}} }',
        transitions: [
          { condition: 'custom', expression: "child.status == 'success' && !blackboard.stop", target: 'approval' },
        ],
      },
      approval: {
        kind: 'Human',
        prompt: 'Ship {{input.branch}}?',
        timeout: '24h',
        default_response: 'no',
        transitions: [
          { condition: 'input_equals', value: 'later', target: 'approval' },
          { condition: 'input_equals_yes', target: 'done' },
          { condition: 'input_equals_no', target: 'agent', feedback: '{{human.feedback}}' },
          { target: 'done' },
        ],
      },
      done: { kind: 'System', command: 'finalize', transitions: [] },
    },
  },
});
