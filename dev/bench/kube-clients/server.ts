/** Answers calls of clients with objects as an API server has them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';

/** A pod with about as many fields as a step pod of an execution. */
const podOf = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'tenant-demo',
    uid: '0b9ee2a4-4d2b-4ad2-b1a6-6a5b1c2f6a01',
    resourceVersion: '4711',
    creationTimestamp: '2026-03-01T12:00:00Z',
    labels: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`windlass.dev/label-${index}`, 'value'])),
    annotations: { 'windlass.dev/input': 'x'.repeat(500) },
    ownerReferences: [
      { apiVersion: 'windlass.dev/v1', kind: 'WorkflowExecution', name: 'run', uid: 'u', controller: true },
    ],
  },
  spec: {
    containers: ['step', 'sidecar'].map((container) => ({
      name: container,
      image: 'example.com/step:1',
      command: ['sh', '-c', 'true'],
      env: Array.from({ length: 10 }, (_, index) => ({ name: `V${index}`, value: 'value' })),
      resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '128Mi' } },
      volumeMounts: [{ name: 'work', mountPath: '/workspace' }],
    })),
    volumes: [{ name: 'work', emptyDir: {} }],
    restartPolicy: 'Never',
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
  },
  status: {
    phase: 'Running',
    startTime: '2026-03-01T12:00:01Z',
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: '2026-03-01T12:00:02Z',
    })),
    containerStatuses: ['step', 'sidecar'].map((container) => ({
      name: container,
      image: 'example.com/step:1',
      imageID: 'sha256:0',
      ready: true,
      restartCount: 0,
      state: { running: { startedAt: '2026-03-01T12:00:02Z' } },
    })),
  },
});

const pod = JSON.stringify(podOf('one'));
const list = JSON.stringify({
  apiVersion: 'v1',
  kind: 'PodList',
  metadata: { resourceVersion: '4711' },
  items: Array.from({ length: 100 }, (_, index) => podOf(`pod-${index}`)),
});

const logText = 'a line of the log of a step, as long as many are\n'.repeat(1_300);
let connections = 0;

function bodyOf(path: string): string {
  if (path === '/connections') return String(connections);
  if (path.endsWith('/log')) return logText;
  return path.endsWith('/pods') ? list : pod;
}

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.setHeader('Content-Type', 'application/json');
    response.end(bodyOf(request.url?.split('?')[0] ?? ''));
  });
});

server.on('connection', () => {
  connections += 1;
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
