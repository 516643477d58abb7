/** Who may run a workflow, the narrowest first (spec 1 §2.6, design §3). */
export const scopes = ['user', 'tenant', 'global'] as const;
export type Scope = (typeof scopes)[number];
