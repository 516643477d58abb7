/** One sentence about a token that did not come, with the next step where the provider of make demo is away. */
export function describeFailure(error: unknown, issuer: string): string {
  const causes = causesOf(error);
  const code = causes.map(codeOf).find((found) => found !== undefined);
  const unreachable = code !== undefined && /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(code);
  if (unreachable) {
    return `The identity provider at ${issuer} does not answer (${code}); make status shows the cluster, make demo installs the provider.`;
  }
  const last = causes.at(-1);
  return `The identity provider at ${issuer} gave no token: ${last instanceof Error ? last.message : String(last)}`;
}

/** The error and its causes, down to the first cause. The last one of several attempts to connect counts. */
function causesOf(error: unknown): unknown[] {
  if (error instanceof AggregateError && error.errors.length > 0) return [error, ...causesOf(error.errors.at(-1))];
  if (error instanceof Error && error.cause !== undefined) return [error, ...causesOf(error.cause)];
  return [error];
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
