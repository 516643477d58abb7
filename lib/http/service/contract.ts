import { Type } from 'typebox';
import { defineContract } from '../contract.ts';

const tag = 'Service';

/** spec 1 §4.8. */
export const readHealth = defineContract({
  operationId: 'readHealth',
  method: 'get',
  path: '/health',
  tag,
  summary: 'Tell whether the service runs',
  access: 'public',
  success: {
    kind: 'json',
    description: 'It runs.',
    schema: Type.Object({ status: Type.Literal('ok') }, { additionalProperties: false }),
    example: { status: 'ok' },
  },
  errors: [],
});

/** Operation of the internal listener. */
export const readReadiness = defineContract({
  operationId: 'readReadiness',
  method: 'get',
  path: '/ready',
  tag,
  summary: 'Tell whether this replica takes requests',
  access: 'public',
  success: {
    kind: 'json',
    description: 'It does.',
    schema: Type.Object({ status: Type.Literal('ready') }, { additionalProperties: false }),
    example: { status: 'ready' },
  },
  errors: [{ status: 503, error: 'unavailable', when: 'It starts or stops, or lacks something; `details` names it.' }],
});

/** Operation of the internal listener. */
export const readMetrics = defineContract({
  operationId: 'readMetrics',
  method: 'get',
  path: '/metrics',
  tag,
  summary: 'Read what this replica has counted, for Prometheus',
  access: 'public',
  success: {
    kind: 'text',
    description: 'The Prometheus exposition format.',
    mediaType: 'text/plain; version=0.0.4; charset=utf-8',
    example: 'windlass_http_requests_total{operation="readHealth",method="GET",status="200"} 1\n',
  },
  errors: [],
});
