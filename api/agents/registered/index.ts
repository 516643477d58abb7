import type { EventBus } from '../../../lib/bus/index.ts';
import type { SealKey, SealSessions } from '../../../lib/envelope/index.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { createGatewayCalls } from './call-gateway.ts';
import { createRegisteredTools, noRegisteredTools, type RegisteredToolSource } from './registered-tools.ts';
import { createToolSessions } from './tool-sessions.ts';

export {
  type AgentCaller,
  isAgent,
  listBytes,
  noRegisteredTools,
  type RegisteredCaller,
  type RegisteredToolSource,
  type ToolSigner,
} from './registered-tools.ts';

interface OpenDeps extends Pick<ApiDeps, 'clock' | 'config' | 'largeAnswers' | 'logger' | 'newId'> {
  readonly bus: Pick<EventBus, 'request'>;
  readonly key: SealKey;
  readonly sessions: SealSessions;
}

/** Registered tools for agents, where the installation has a tool gateway. */
export function openRegisteredTools(deps: OpenDeps): RegisteredToolSource {
  const { WINDLASS_GATEWAY_URL: address } = deps.config;
  if (address === undefined) return noRegisteredTools;
  const url = address.replace(/\/$/, '');
  const call = createGatewayCalls({ ...deps, room: deps.largeAnswers, url, sessions: createToolSessions(deps) });
  return createRegisteredTools({ ...deps, call });
}
