export { type Authentication, createAuthentication } from './authentication.ts';
export type { Caller } from './caller.ts';
export { type IdentityConfig, identityVariables } from './config.ts';
export { isOperator, requireOperator } from './roles.ts';
