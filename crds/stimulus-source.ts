/**
 * Names of a source (requirements AMB-042): `http_api`, `my-ci`, `Tickets.EU`. Every such name is a legal
 * value of a label, by which the executions of a source are found.
 */
export const sourcePattern = '^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$';

/**
 * The route for executions that end, `workflow:` and the name of their workflow (requirements AMB-189). It is no legal
 * source, so that no sender can use it.
 */
export const workflowSourcePattern = '^workflow:[a-z0-9][a-z0-9.-]{0,252}$';

/** Names of a source in the path of a webhook (requirements AMB-043). */
export const webhookSourcePattern = '^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$';
