/** The context of agents and sessions that name none. It need not exist: then every tool may be called, and nothing is allowed beside. */
export const defaultContext = 'default';
