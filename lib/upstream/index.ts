export { createUpstream } from './create-upstream.ts';
export { upstreamLimits } from './limits.ts';
export type { Upstream, UpstreamRequest } from './upstream.ts';
export { UpstreamError } from './upstream-error.ts';
