/** The credential of a call to its upstream. Values are secrets: they are in no log, error or answer. */
export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  /** Added to the query of the path. */
  readonly query?: { readonly name: string; readonly value: string };
  /** Texts that are taken out of whatever an upstream sends back. */
  readonly secrets: readonly string[];
  /** Reports that the upstream answered with 401. True where another credential is to be had; default: none is. */
  readonly refused?: () => boolean;
}

export const noCredential: Credential = { headers: {}, secrets: [] };

/** Bounds of the values of a Secret, and of tokens (issue 13, part 2). */
export const credentialLimits = {
  valueLength: 8_192,
  /** Tokens of OAuth 2.0 servers that one process keeps. */
  tokens: 1_000,
  /** Size limit of a token server's answer. */
  answerBytes: 65_536,
  exchangeMs: 10_000,
  /** After a token was refused its successors count as good for that long: some upstreams refuse every one of them. */
  refusalPauseMs: 60_000,
  /** A token is not used in the last part of its life. */
  marginSeconds: 30,
  /** Life of a token whose server names none. */
  defaultSeconds: 300,
  longestSeconds: 86_400,
} as const;
