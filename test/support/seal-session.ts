import type { SealSession } from '../../lib/envelope/index.ts';

/** A session of an agent of a tenant that may call every tool. */
export const sealSession = (tenant = 'acme'): SealSession => ({
  execution_id: 'run-1',
  session_id: 's',
  agent_id: 'desk',
  public_key: '',
  pod_uid: '',
  security_context: 'default',
  tenant,
  allowed_tool_patterns: ['*'],
  expires_at: '2099-01-01T00:00:00Z',
});
